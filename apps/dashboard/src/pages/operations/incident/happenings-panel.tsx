import './incident.css';
import { useQuery } from '@tanstack/react-query';
import { may, useMe } from '../../../api/me.ts';
import { unlessFrozen } from '../../../api/polled.ts';
import { trpc } from '../../../api/trpc.ts';
import { type Column, List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ExactTime } from '../../../parts/times.tsx';
import { type Happening, happeningsOf, kinds } from './happenings.ts';
import { words } from './strings.ts';

/** Shows holds, alarms, workers, and changes on the time axis of the failures and as a list. */
export function Happenings({
  since,
  until,
  whose: reach,
  frozen,
}: {
  readonly since: string;
  readonly until: string;
  readonly whose: 'workspace' | 'instance';
  readonly frozen: boolean;
}) {
  const me = useMe();
  const unchanged = unlessFrozen(frozen);
  const operator = may(me, 'operator');
  const holds = useQuery(trpc.holds.list.queryOptions({ limit: 100, active: false }, unchanged));
  const alarms = useQuery(trpc.alarms.list.queryOptions({ limit: 100, active: false }, unchanged));
  const workers = useQuery(trpc.ops.workers.queryOptions({}, { ...(operator ? unchanged : { enabled: false }) }));
  const audit = useQuery(
    trpc.audit.list.queryOptions(
      { limit: 100, chain: reach, kind: 'changes', ...(frozen && { since, until }) },
      unchanged,
    ),
  );
  const all = happeningsOf(
    {
      holds: holds.data?.data ?? [],
      alarms: alarms.data?.data ?? [],
      workers: workers.data?.data ?? [],
      audit: audit.data?.data ?? [],
    },
    since,
    until,
  );
  return (
    <Panel title={words.happened} bare>
      {all.length === 0 ? (
        <p className="pad muted">{words.nothing}</p>
      ) : (
        <>
          <Lanes all={all} since={since} until={until} />
          <List label={words.happened} columns={columns} rows={all} idOf={({ id }) => id} nameOf={({ text }) => text} />
        </>
      )}
    </Panel>
  );
}

function Lanes({
  all,
  since,
  until,
}: {
  readonly all: readonly Happening[];
  readonly since: string;
  readonly until: string;
}) {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  const groups = kinds.map((kind) => [kind, all.filter((one) => one.kind === kind)] as const);
  return (
    <div className="lanes pad" aria-hidden>
      {groups
        .filter(([, list]) => list.length > 0)
        .map(([kind, list]) => (
          <div key={kind}>
            <span className="lane-name">{words.lane(words.kinds[kind], list.length)}</span>
            <div className={`lane ${kind}`}>
              {list.map(({ id, at, text }) => (
                <i key={id} title={text} style={{ left: `${(100 * (Date.parse(at) - from)) / (to - from)}%` }} />
              ))}
            </div>
          </div>
        ))}
    </div>
  );
}

const columns: readonly Column<Happening>[] = [
  { name: words.happenedColumns.at, width: 'fit', show: ({ at }) => <ExactTime at={at} /> },
  {
    name: words.happenedColumns.kind,
    width: 'fit',
    show: ({ kind }) => <span className="chip">{words.kinds[kind]}</span>,
  },
  { name: words.happenedColumns.text, wraps: true, show: ({ text }) => text },
  { name: words.happenedColumns.by, width: '18%', less: true, show: ({ by }) => by },
];
