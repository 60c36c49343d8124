import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { ConfirmByName } from '../../../parts/dialogs/confirm-by-name.tsx';
import { Facts } from '../../../parts/page.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Key } from './key.ts';
import { words } from './strings.ts';

export function RevokeKey({
  apiKey: { id, name, prefix, last4, last_used_at },
  onClose,
}: {
  readonly apiKey: Key;
  readonly onClose: () => void;
}) {
  const text = words.revoking;
  return (
    <ConfirmByName
      title={text.title(name)}
      name={name}
      about={text.about}
      facts={
        <Facts
          rows={[
            [words.columns.key, <span key="key" className="mono">{`${prefix}…${last4}`}</span>],
            [text.used, last_used_at === null ? text.unused : <RelativeTime key="used" at={last_used_at} />],
          ]}
        />
      }
      keep={text.keep}
      submit={text.submit}
      call={calls.revokeKey(id)}
      run={() => client.apiKeys.revoke.mutate({ key_id: id })}
      onDone={() => toast(text.done(name))}
      onClose={onClose}
    />
  );
}
