import { List } from '../../../parts/list.tsx';
import { MailBadge } from '../../../parts/mail-status.tsx';
import { Panel } from '../../../parts/page.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import type { Email, Recipient } from './email.ts';
import { words } from './strings.ts';

export function Recipients({ email }: { readonly email: Email }) {
  const { title, email: address, state, relay, attempts, reply } = words.recipients;
  return (
    <Panel title={title} bare>
      <List<Recipient>
        label={title}
        rows={email.recipients}
        idOf={({ id }) => id}
        nameOf={(row) => row.email}
        columns={[
          {
            name: address,
            width: '34%',
            show: (row) => (
              <span title={row.email}>
                {row.email} {row.kind !== 'to' && <span className="chip">{row.kind}</span>}
              </span>
            ),
          },
          { name: state, width: 'fit', show: (row) => <MailBadge status={row.status} captured={row.captured} /> },
          ...(email.recipients.some(({ relayed }) => relayed)
            ? [{ name: relay, width: 'fit' as const, less: true, show: (row: Recipient) => <RelayState row={row} /> }]
            : []),
          { name: attempts, width: 'fit', end: true, show: (row) => row.attempts },
          {
            name: reply,
            less: true,
            show: (row) => <code title={row.last_response ?? ''}>{row.last_response}</code>,
          },
        ]}
      />
    </Panel>
  );
}

/** Says what a relay told about a delivered email. */
function RelayState({ row: { status, relayed, confirmed_at } }: { readonly row: Recipient }) {
  const { unconfirmed, unconfirmedMeans, confirmed } = words.recipients;
  if (!relayed || status !== 'delivered') return null;
  if (confirmed_at === null) return <span title={unconfirmedMeans}>{unconfirmed}</span>;
  return (
    <>
      {confirmed} <RelativeTime at={confirmed_at} />
    </>
  );
}
