import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { may, useMe } from '../../api/me.ts';
import { trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/page.tsx';
import { Empty, QueryView } from '../../parts/states.tsx';
import { ExactTime } from '../../parts/times.tsx';
import { SourceBadge, type Suppression } from './source-badge.tsx';
import { words } from './strings.ts';

const text = words.detail;

/** Shows why an address is suppressed and what leads out of it. */
export function SuppressionDrawer({
  email,
  onRemove,
  onClose,
}: {
  readonly email: string;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}) {
  const suppression = useQuery(trpc.suppressions.byAddress.queryOptions({ ids: [email] }));
  return (
    <Drawer title={email} onClose={onClose}>
      <QueryView query={suppression}>
        {([entry]) =>
          entry ? (
            <SuppressionView entry={entry} onRemove={onRemove} />
          ) : (
            <Empty title={words.none.title(email)}>
              <p>{words.none.about}</p>
            </Empty>
          )
        }
      </QueryView>
    </Drawer>
  );
}

function SuppressionView({ entry, onRemove }: { readonly entry: Suppression; readonly onRemove: () => void }) {
  const { email, source, reason, source_event_id, created_at, expires_at } = entry;
  const by_server = source === 'bounce' || source === 'complaint';
  return (
    <>
      <p>{text.about[source]}</p>
      <div className="line">
        <Link to="/emails" search={{ q: `to:${email}` }} className="button s">
          {text.emails}
        </Link>
        <Button small kind="danger" needs="admin" onClick={onRemove}>
          <Trash2 size={14} />
          {words.removing.submit}
        </Button>
      </div>
      {by_server && reason !== null && (
        <div className="stack-s">
          <h3>{text.response}</h3>
          <CodeBlock text={reason} what={text.response} />
        </div>
      )}
      <Facts
        rows={[
          [words.columns.source, <SourceBadge key="source" source={source} />],
          [words.columns.reason, !by_server && (reason ?? <span className="faint">{text.noReason}</span>)],
          [words.columns.created, <ExactTime key="created" at={created_at} />],
          [text.by, !by_server && <AddedBy key="by" entry={entry} />],
          [words.columns.expires, expires_at === null ? words.never : <ExactTime key="expires" at={expires_at} />],
          [text.cause, source_event_id !== null && <Cause key="cause" event_id={source_event_id} />],
          [text.id, <Id key="id" id={entry.id} whole />],
        ]}
      />
    </>
  );
}

/** Links the email whose event caused the suppression. */
function Cause({ event_id }: { readonly event_id: string }) {
  const event_hits = useQuery(trpc.find.queryOptions({ text: event_id }));
  const event = event_hits.data?.data.find(({ type }) => type === 'event');
  const [, email_id] = /^\/emails\/([^/?]+)$/.exec(event?.path ?? '') ?? [];
  const email_hits = useQuery(trpc.find.queryOptions({ text: email_id ?? '' }, { enabled: email_id !== undefined }));
  const subject = email_hits.data?.data.find(({ type }) => type === 'email')?.title;
  if (event_hits.data === undefined) return <span className="faint">…</span>;
  if (email_id === undefined) return <span className="faint">{text.causeGone}</span>;
  return (
    <Link to="/emails/$id" params={{ id: email_id }}>
      {subject || text.email}
    </Link>
  );
}

/** Names who added an address, for those who may read the audit log. */
function AddedBy({ entry }: { readonly entry: Suppression }) {
  const me = useMe();
  const entries = useQuery(
    trpc.audit.list.queryOptions(
      { target_id: entry.id, limit: 1 },
      { enabled: may(me, 'admin') && entry.source === 'manual' },
    ),
  );
  if (!may(me, 'admin')) return <span className="faint">{text.byAdmins}</span>;
  // An import has one audit entry for all its addresses.
  if (entry.source === 'import') return <Link to="/settings/audit-log">{text.inAudit}</Link>;
  if (entries.data === undefined) return <span className="faint">…</span>;
  return entries.data.data[0]?.actor.name ?? <span className="faint">{text.unknown}</span>;
}
