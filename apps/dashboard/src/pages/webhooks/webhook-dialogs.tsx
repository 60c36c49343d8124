import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, type Outputs, trpc } from '../../api/trpc.ts';
import { nowMs } from '../../parts/clock.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field, Form } from '../../parts/field.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useSecret } from '../../parts/use-secret.ts';
import type { MadeWebhook } from './edit-webhook.tsx';
import { ShowWebhookSecret } from './show-webhook-secret.tsx';
import { words } from './strings.ts';

const HOUR_MS = 3_600_000;

interface Closing {
  readonly onClose: () => void;
}

export function RotateWebhook({
  id,
  onClose,
  onRotated,
}: Closing & { readonly id: string; readonly onRotated: () => void }) {
  const secret = useSecret<MadeWebhook>();
  if (secret.made) {
    const close = () => {
      onRotated();
      onClose();
    };
    return <ShowWebhookSecret secret={secret.made.secret} onClose={close} />;
  }
  return (
    <Dialog title={words.rotating.title} onClose={onClose}>
      {secret.error !== null && <ErrorPanel error={secret.error} />}
      <p>{words.rotating.about}</p>
      <Buttons
        onClose={onClose}
        busy={secret.busy}
        word={words.rotating.submit}
        onClick={() => secret.run(() => client.webhooks.rotateSecret.mutate({ id }))}
      />
    </Dialog>
  );
}

export function RecoverWebhook({
  id,
  onClose,
  onRecovered,
}: Closing & { readonly id: string; readonly onRecovered: () => void }) {
  const recover = useMutation({
    mutationFn: (since: string) => client.webhooks.recover.mutate({ id, since }),
    onSuccess() {
      toast(words.recovering.done);
      onRecovered();
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const since = new Date(String(form.get('since')));
    if (!Number.isNaN(since.getTime())) recover.mutate(since.toISOString());
  };
  return (
    <FormDialog
      title={words.recovering.title}
      intro={<p>{words.recovering.about}</p>}
      words={{ cancel: words.fields.cancel, submit: words.recovering.submit }}
      error={recover.error}
      busy={recover.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={words.recovering.since} name="since" problem={problems.get('since')}>
          {(control) => (
            <input {...control} className="input" type="datetime-local" defaultValue={hourAgo()} required autoFocus />
          )}
        </Field>
      )}
    </FormDialog>
  );
}

/** In the format of the control: local time, to the minute. */
function hourAgo(): string {
  const at = new Date(nowMs() - HOUR_MS);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function DeleteWebhook({ webhook, onClose }: Closing & { readonly webhook: Outputs['webhooks']['get'] }) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [wrong, setWrong] = useState<string>();
  const { host } = new URL(webhook.url);
  const remove = useMutation({
    mutationFn: () => client.webhooks.delete.mutate({ id: webhook.id }),
    async onSuccess() {
      toast(words.deleting.done);
      await navigate({ to: '/webhooks' });
      await cache.invalidateQueries({ queryKey: trpc.webhooks.pathKey() });
    },
  });
  const submit = (form: FormData) => {
    const same = String(form.get('host')).trim() === host;
    setWrong(same ? undefined : words.deleting.mismatch);
    if (same && !remove.isPending) remove.mutate();
  };
  return (
    <Dialog title={words.deleting.title} onClose={onClose}>
      <p>{words.deleting.about}</p>
      <Form label={words.deleting.title} onSubmit={submit} fault={wrong}>
        {remove.error !== null && <ErrorPanel error={remove.error} />}
        <Field label={words.deleting.type(host)} name="host" problem={wrong}>
          {(control) => <input {...control} className="input mono" autoComplete="off" required autoFocus />}
        </Field>
        <Buttons onClose={onClose} busy={remove.isPending} word={words.deleting.submit} danger />
      </Form>
    </Dialog>
  );
}

function Buttons({
  onClose,
  busy,
  word,
  danger = false,
  onClick,
}: Closing & {
  readonly busy: boolean;
  readonly word: string;
  readonly danger?: boolean;
  /** Without it the button submits its form. */
  readonly onClick?: () => void;
}) {
  return (
    <div className="actions">
      <button type="button" className="button" onClick={onClose}>
        {words.fields.cancel}
      </button>
      <button
        type={onClick ? 'button' : 'submit'}
        className={`button primary ${danger ? 'danger' : ''}`}
        aria-busy={busy}
        onClick={onClick}
      >
        {word}
      </button>
    </div>
  );
}
