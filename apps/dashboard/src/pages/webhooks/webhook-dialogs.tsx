import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { nowMs } from '../../api/clock.ts';
import { InvalidForm } from '../../api/problem.ts';
import { client, type Outputs, trpc } from '../../api/trpc.ts';
import { ConfirmByName } from '../../parts/dialogs/confirm-by-name.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Facts } from '../../parts/page.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { ExactTime } from '../../parts/times.tsx';
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
  const [time, setTime] = useState(hourAgo);
  const date = new Date(time);
  const since = Number.isNaN(date.getTime()) ? null : date.toISOString();
  const preview = useQuery(
    trpc.webhooks.recoveryPreview.queryOptions({ id, since: since ?? '' }, { enabled: since !== null }),
  );
  return (
    <FormDialog
      title={text.title}
      about={text.about}
      submit={text.submit}
      run={async () => {
        if (since === null) throw new InvalidForm({ since: text.noTime });
        const counts = await client.webhooks.recoveryPreview.query({ id, since });
        if (counts.matched === 0 && counts.matched_exact) throw new InvalidForm({ since: text.nothing(counts) });
        await client.webhooks.recover.mutate({ id, since });
        return text.count(counts.matched, counts.matched_exact);
      }}
      onDone={(count) => toast(text.done(count))}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.since} name="since" problem={problems.get('since')}>
            {(control) => (
              <input
                {...control}
                className="input"
                type="datetime-local"
                value={time}
                onChange={({ target }) => setTime(target.value)}
                required
                autoFocus
              />
            )}
          </Field>
          {since !== null && <RecoveryPreview preview={preview} />}
        </>
      )}
    </FormDialog>
  );
}

type Preview = UseQueryResult<Outputs['webhooks']['recoveryPreview'], unknown>;

/** Says what a recovery would queue, or why nothing. */
function RecoveryPreview({ preview: { data, error } }: { readonly preview: Pick<Preview, 'data' | 'error'> }) {
  const text = words.recovering;
  if (error !== null) return <ErrorPanel error={error} />;
  if (data === undefined) return <p role="status">{text.counting}</p>;
  if (data.matched === 0 && data.matched_exact) return <p role="status">{text.nothing(data)}</p>;
  return (
    <div role="status" className="stack-s">
      <p>
        <strong>{text.matched(text.count(data.matched, data.matched_exact))}</strong>
      </p>
      <Facts
        rows={[
          [text.first, data.first_at && <ExactTime key="first" at={data.first_at} />],
          [text.last, data.last_at && <ExactTime key="last" at={data.last_at} />],
        ]}
      />
    </div>
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
