import { useState } from 'react';
import { client, type Inputs, type Outputs } from '../../api/trpc.ts';
import { FormDialog, type FormDialogProps } from '../../parts/dialogs/form-dialog.tsx';
import { Check, Choices, Field } from '../../parts/field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { eventNames } from './event-names.ts';
import { ShowWebhookSecret } from './show-webhook-secret.tsx';
import { words } from './strings.ts';

type Webhook = Outputs['webhooks']['get'];
type Fields = Pick<Inputs['webhooks']['create'], 'url' | 'events' | 'description' | 'format'>;

export function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  return (
    <WebhookForm
      title={words.create}
      submit={words.fields.create}
      webhook={null}
      save={(fields) => client.webhooks.create.mutate(fields)}
      next={({ secret }) => <ShowWebhookSecret secret={secret} onClose={onClose} />}
      onClose={onClose}
    />
  );
}

export function EditWebhook({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  return (
    <WebhookForm
      title={words.detail.edit}
      submit={words.fields.save}
      webhook={webhook}
      save={(fields) => client.webhooks.update.mutate({ id: webhook.id, ...fields })}
      onDone={() => toast(words.fields.saved)}
      onClose={onClose}
    />
  );
}

interface WebhookFormProps<T> extends Omit<FormDialogProps<T>, 'run'> {
  readonly webhook: Webhook | null;
  readonly save: (fields: Fields) => Promise<T>;
}

function WebhookForm<T>({ webhook, save, ...dialog }: WebhookFormProps<T>) {
  const [all, setAll] = useState(webhook === null || webhook.events === 'all');
  const [selection, setSelection] = useState<ReadonlySet<string>>(
    new Set(webhook === null || webhook.events === 'all' ? [] : webhook.events),
  );
  const [format, setFormat] = useState<Webhook['format']>('postrider');
  const run = (form: FormData) =>
    save({
      url: String(form.get('url') ?? '').trim(),
      events: all ? 'all' : [...selection],
      description: String(form.get('description') ?? '').trim() || null,
      ...(webhook === null && { format }),
    });
  const toggle = (name: string, checked: boolean) => {
    const next = new Set(selection);
    if (checked) next.add(name);
    else next.delete(name);
    setSelection(next);
  };
  return (
    <FormDialog {...dialog} run={run}>
      {(problems) => (
        <>
          <Field label={words.fields.url} name="url" about={words.fields.urlAbout} problem={problems.get('url')}>
            {(control) => (
              <input {...control} className="input mono" type="url" defaultValue={webhook?.url} required autoFocus />
            )}
          </Field>
          <fieldset className="field">
            <legend>{words.fields.events}</legend>
            <a className="small" href="/docs/webhooks#types" target="_blank" rel="noreferrer">
              {words.catalogue}
            </a>
            <Check name="all" label={words.fields.eventsAll} checked={all} onChange={setAll} />
            {!all &&
              eventNames.map((name) => (
                <Check
                  key={name}
                  name="events"
                  value={name}
                  label={<code>{name}</code>}
                  checked={selection.has(name)}
                  onChange={(checked) => toggle(name, checked)}
                />
              ))}
            {problems.has('events') && <p className="problem">{problems.get('events')}</p>}
          </fieldset>
          {webhook === null && (
            <div className="field">
              <span className="label">{words.detail.format}</span>
              <Choices<Webhook['format']>
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
            {(control) => <input {...control} className="input" defaultValue={webhook?.description ?? ''} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
