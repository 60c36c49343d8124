import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type AccountNotice = Outputs['people']['notices'][number];
const text = words.notices;

/** What has happened to the account, which the user is also told by email. */
export function Notices() {
  const notices = useQuery(trpc.people.notices.queryOptions({}));
  if (notices.data?.length === 0) return null;
  return (
    <Panel title={text.title} bare>
      <QueryView query={notices}>
        {(rows) => (
          <List<AccountNotice>
            label={text.title}
            rows={rows}
            idOf={({ kind, created_at }) => `${created_at} ${kind}`}
            nameOf={({ kind }) => text.kinds[kind]}
            columns={[
              { name: text.event, show: ({ kind }) => text.kinds[kind] },
              { name: text.device, less: true, show: ({ device }) => device ?? words.sessions.unknownDevice },
              { name: text.address, less: true, show: ({ address }) => address ?? words.sessions.unknown },
              { name: text.time, width: 'fit', show: ({ created_at }) => <RelativeTime at={created_at} /> },
            ]}
          />
        )}
      </QueryView>
    </Panel>
  );
}
