import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useStore } from '../../../api/store.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import type { ChartMark } from '../../../parts/charts/chart.tsx';
import { ChartPanel, type ChartView } from '../../../parts/charts/chart-panel.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { ExactTime, exactTime, inUtc } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type History = Outputs['ops']['history'];
type Hold = Outputs['holds']['list']['data'][number];
type Entry = Outputs['audit']['list']['data'][number];

interface Mark {
  readonly id: string;
  readonly at: string;
  readonly text: string;
  readonly by: string;
  readonly reason: string;
}

const POINTS = 120;
const text = words.detail;
const format = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1));

/** Charts depth, work, and wait times, with a mark at each change a person made. */
export function QueueHistory({
  queue,
  since,
  holds,
}: {
  readonly queue: string;
  readonly since: string;
  readonly holds: readonly Hold[];
}) {
  const history = useQuery(trpc.ops.history.queryOptions({ queue, since, max_points: POINTS }));
  const audit = useQuery(trpc.audit.list.queryOptions({ chain: 'instance', target_id: queue, since, limit: 100 }));
  const marks = marksOf(holds, audit.data?.data ?? [], since);
  return (
    <>
      <QueryView query={history}>
        {(data) =>
          data.data.length === 0 ? <p className="muted">{text.none}</p> : <Charts history={data} marks={marks} />
        }
      </QueryView>
      <Panel title={text.marks} bare>
        {marks.length === 0 ? (
          <p className="pad muted">{text.noMarks}</p>
        ) : (
          <List label={text.marks} columns={columns} rows={marks} idOf={({ id }) => id} nameOf={(mark) => mark.text} />
        )}
      </Panel>
    </>
  );
}

/** Returns the changes that people made, latest first. */
function marksOf(holds: readonly Hold[], audit: readonly Entry[], since: string): readonly Mark[] {
  const marks: Mark[] = [
    ...holds.flatMap(({ id, created_at, ended_at, ended_by, created_by, reason }) => [
      { id, at: created_at, text: text.created, by: created_by.name, reason },
      ...(ended_at === null
        ? []
        : [
            {
              id: `${id} end`,
              at: ended_at,
              text: ended_by === 'expiry' ? text.expired : text.released,
              by: '',
              reason: '',
            },
          ]),
    ]),
    ...audit.map(({ id, at, action, actor, reason }) => ({
      id,
      at,
      text: (text.actions as Readonly<Record<string, string>>)[action] ?? action,
      by: actor.name,
      reason: reason ?? '',
    })),
  ];
  return marks.filter(({ at }) => at >= since).toSorted((one, other) => (one.at < other.at ? 1 : -1));
}

function Charts({ history, marks }: { readonly history: History; readonly marks: readonly Mark[] }) {
  const { view = 'chart' as const } = useSearch({ from: '/shell/instance/queues/$name' });
  const navigate = useNavigate({ from: '/instance/queues/$name' });
  const utc = useStore(inUtc);
  const { data } = history;
  const onView = (name: ChartView) =>
    void navigate({
      search: ({ view: _, ...search }) => (name === 'table' ? { ...search, view: name } : search),
      replace: true,
    });
  const shared = {
    timeWord: text.time,
    times: data.map(({ at }) => exactTime(at, utc).slice(5, 16)),
    marks: marks.map((mark): ChartMark => ({ at: pointOf(data, mark.at), text: mark.text })),
    format,
    view,
    onView,
  };
  return (
    <>
      <ChartPanel
        {...shared}
        title={text.depth}
        file="queue-depth"
        series={[
          { name: words.columns.ready, tone: 'info', values: data.map(({ ready }) => ready) },
          { name: words.columns.later, tone: 'calm', values: data.map(({ deferred }) => deferred) },
          { name: words.columns.parked, tone: 'wait', values: data.map(({ parked }) => parked) },
          { name: words.columns.dead, tone: 'bad', values: data.map(({ dead }) => dead) },
        ]}
      />
      <ChartPanel
        {...shared}
        title={text.work}
        file="queue-work"
        series={[
          { name: text.finished, tone: 'good', values: data.map(({ finished }) => finished) },
          { name: text.failed, tone: 'bad', values: data.map(({ failed }) => failed) },
        ]}
      />
      <ChartPanel
        {...shared}
        title={text.wait}
        file="queue-wait"
        format={(value) => (value < 10 ? value.toFixed(1) : format(value))}
        series={[{ name: text.wait, tone: 'accent', values: data.map(({ wait_p95_seconds }) => wait_p95_seconds) }]}
      />
    </>
  );
}

/** Returns the last point that starts at or before a time. */
function pointOf(data: History['data'], at: string): number {
  const after = data.findIndex((point) => point.at > at);
  return after === -1 ? data.length - 1 : Math.max(0, after - 1);
}

const columns: readonly Column<Mark>[] = [
  { name: text.markColumns.at, width: 'fit', show: ({ at }) => <ExactTime at={at} /> },
  { name: text.markColumns.text, width: 'fit', show: (mark) => <strong>{mark.text}</strong> },
  { name: text.markColumns.by, width: '20%', less: true, show: ({ by }) => by },
  { name: text.markColumns.reason, less: true, show: ({ reason }) => <span title={reason}>{reason}</span> },
];
