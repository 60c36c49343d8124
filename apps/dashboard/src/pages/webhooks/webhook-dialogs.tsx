import { useNavigate } from '@tanstack/react-router';
import { nowMs } from '../../api/clock.ts';
import { InvalidForm } from '../../api/problem.ts';
import { client, type Outputs } from '../../api/trpc.ts';
import { ConfirmByName } from '../../parts/dialogs/confirm-by-name.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { ShowWebhookSecret } from './show-webhook-secret.tsx';
import { words } from './strings.ts';

const HOUR_MS = 3_600_000;

interface Closing {
  readonly onClose: () => void;
}

export function RotateWebhook({ id, onClose }: Closing & { readonly id: string }) {
  return (
    <FormDialog
      {...words.rotating}
      run={() => client.webhooks.rotateSecret.mutate({ id })}
      next={({ secret }) => <ShowWebhookSecret secret={secret} onClose={onClose} />}
      onClose={onClose}
    />
  );
}

export function RecoverWebhook({ id, onClose }: Closing & { readonly id: string }) {
  const text = words.recovering;
  return (
    <FormDialog
      title={text.title}
      about={text.about}
      submit={text.submit}
      run={async (form) => {
        const since = new Date(String(form.get('since')));
        if (Number.isNaN(since.getTime())) throw new InvalidForm({ since: text.noTime });
        return client.webhooks.recover.mutate({ id, since: since.toISOString() });
      }}
      onDone={() => toast(text.done)}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={text.since} name="since" problem={problems.get('since')}>
          {(control) => (
            <input {...control} className="input" type="datetime-local" defaultValue={hourAgo()} required autoFocus />
          )}
        </Field>
      )}
    </FormDialog>
  );
}

/** Returns the time an hour ago in the format of the input: local time, to the minute. */
function hourAgo(): string {
  const at = new Date(nowMs() - HOUR_MS);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function DeleteWebhook({ webhook, onClose }: Closing & { readonly webhook: Outputs['webhooks']['get'] }) {
  const navigate = useNavigate();
  const { done, ...text } = words.deleting;
  return (
    <ConfirmByName
      {...text}
      name={new URL(webhook.url).host}
      run={() => client.webhooks.delete.mutate({ id: webhook.id })}
      onDone={() => {
        toast(done);
        void navigate({ to: '/webhooks' });
      }}
      onClose={onClose}
    />
  );
}
