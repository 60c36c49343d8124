import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Problem, problemOf } from '../../api/problem.ts';
import { client, type Inputs, type Outputs } from '../../api/trpc.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Check, Field, Form } from '../../parts/field.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useSecret } from '../../parts/use-secret.ts';
import { eventNames } from './event-names.ts';
import { ShowWebhookSecret } from './show-webhook-secret.tsx';
import { words } from './strings.ts';

export type MadeWebhook = Outputs['webhooks']['create'];
type Fields = Pick<Inputs['webhooks']['create'], 'url' | 'events' | 'description'>;

export function CreateWebhook({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const secret = useSecret<MadeWebhook>();
  if (secret.made) {
    const close = () => {
      onMade();
      onClose();
    };
    return <ShowWebhookSecret secret={secret.made.secret} onClose={close} />;
  }
  return (
    <WebhookForm
      title={words.create}
      submitWord={words.fields.create}
      given={null}
      error={secret.error}
      busy={secret.busy}
      onClose={onClose}
      onSubmit={(fields) => secret.run(() => client.webhooks.create.mutate(fields))}
    />
  );
}

export function EditWebhook({
  webhook,
  onClose,
  onSaved,
}: {
  readonly webhook: Outputs['webhooks']['get'];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const save = useMutation({
    mutationFn: (fields: Fields) => client.webhooks.update.mutate({ id: webhook.id, ...fields }),
    onSuccess() {
      toast(words.fields.saved);
      onSaved();
      onClose();
    },
  });
  return (
    <WebhookForm
      title={words.detail.edit}
      submitWord={words.fields.save}
      given={webhook}
      error={save.error}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={(fields) => save.mutate(fields)}
    />
  );
}

interface FormProps {
  readonly title: string;
  readonly submitWord: string;
  readonly given: Outputs['webhooks']['get'] | null;
  readonly error: unknown;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (fields: Fields) => void;
}

function WebhookForm({ title, submitWord, given, error, busy, onClose, onSubmit }: FormProps) {
  const [all, setAll] = useState(given === null || given.events === 'all');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(given === null || given.events === 'all' ? [] : given.events),
  );
  const problem: Problem | null = error === null ? null : problemOf(error);
  const submit = (form: FormData) => {
    if (busy) return;
    onSubmit({
      url: String(form.get('url') ?? '').trim(),
      events: all ? 'all' : [...chosen],
      description: String(form.get('description') ?? '').trim() || null,
    });
  };
  const toggle = (name: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(name);
    else next.delete(name);
    setChosen(next);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form label={title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={error} />}
        <Field label={words.fields.url} name="url" about={words.fields.urlAbout} problem={problem?.fields.get('url')}>
          {(control) => (
            <input {...control} className="input mono" type="url" defaultValue={given?.url} required autoFocus />
          )}
        </Field>
        <fieldset className="field">
          <legend>{words.fields.events}</legend>
          <Check name="all" label={words.fields.eventsAll} checked={all} onChange={setAll} />
          {!all &&
            eventNames.map((name) => (
              <Check
                key={name}
                name="events"
                value={name}
                label={<code>{name}</code>}
                checked={chosen.has(name)}
                onChange={(on) => toggle(name, on)}
              />
            ))}
          {problem?.fields.get('events') !== undefined && <p className="problem">{problem.fields.get('events')}</p>}
        </fieldset>
        <Field label={words.fields.description} name="description" problem={problem?.fields.get('description')}>
          {(control) => <input {...control} className="input" defaultValue={given?.description ?? ''} />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.fields.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={busy}>
            {submitWord}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
