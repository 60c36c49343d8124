import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, type Inputs, type Outputs } from '../../api/trpc.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Check, Choices, Field } from '../../parts/field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useSecret } from '../../parts/use-secret.ts';
import { eventNames } from './event-names.ts';
import { ShowWebhookSecret } from './show-webhook-secret.tsx';
import { words } from './strings.ts';

export type MadeWebhook = Outputs['webhooks']['create'];
type Fields = Pick<Inputs['webhooks']['create'], 'url' | 'events' | 'description' | 'format'>;
type Format = Outputs['webhooks']['get']['format'];

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
  const [format, setFormat] = useState<Format>('postrider');
  const submit = (form: FormData) => {
    onSubmit({
      url: String(form.get('url') ?? '').trim(),
      events: all ? 'all' : [...chosen],
      description: String(form.get('description') ?? '').trim() || null,
      ...(given === null && { format }),
    });
  };
  const toggle = (name: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(name);
    else next.delete(name);
    setChosen(next);
  };
  return (
    <FormDialog
      title={title}
      words={{ cancel: words.fields.cancel, submit: submitWord }}
      error={error}
      busy={busy}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.fields.url} name="url" about={words.fields.urlAbout} problem={problems.get('url')}>
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
            {problems.has('events') && <p className="problem">{problems.get('events')}</p>}
          </fieldset>
          {given === null && (
            <div className="field">
              <span className="label">{words.detail.format}</span>
              <Choices<Format>
                label={words.detail.format}
                options={[
                  ['postrider', words.fields.formats.postrider[0]],
                  ['resend', words.fields.formats.resend[0]],
                ]}
                value={format}
                onChange={setFormat}
              />
              <p className="about">{words.fields.formats[format][1]}</p>
            </div>
          )}
          <Field label={words.fields.description} name="description" problem={problems.get('description')}>
            {(control) => <input {...control} className="input" defaultValue={given?.description ?? ''} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
