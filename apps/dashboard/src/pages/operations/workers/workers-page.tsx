import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleStop, CircleX } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { RelativeTime, spanMs } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type Worker = Outputs['ops']['workers']['data'][number];

const MIB = 1024 * 1024;

export function WorkersPage() {
  const workers = useQuery(trpc.ops.workers.queryOptions({}));
  const live = workers.data?.data.filter((worker) => worker.live).length ?? 0;
  const { answer: response, title } = words.workers;
  return (
    <Page>
      <PageHeader
        title={title}
        answer={workers.data && (live === 0 ? response.none : response.some(live, workers.data.data.length - live))}
      />
      <QueryView query={workers}>
        {({ data }) => (
          <List label={title} columns={columns} rows={data} idOf={({ id }) => id} nameOf={({ name }) => name} />
        )}
      </QueryView>
    </Page>
  );
}

const { name, state, active, memory, cpu, delay, heartbeat, started, crashes } = words.workers.columns;
const { states, lostAbout } = words.workers;

const columns: readonly Column<Worker>[] = [
  {
    name,
    show: (row) => (
      <span title={`${row.id} ${row.version ?? ''}`}>
        <strong>{row.name}</strong> <span className="faint">{row.version}</span>
      </span>
    ),
  },
  { name: state, width: 'fit', show: stateOf },
  number(active, (row) => `${row.active} of ${row.concurrency}`),
  number(memory, (row) => (row.rss_bytes === null ? '–' : `${Math.round(row.rss_bytes / MIB)} MB`)),
  number(cpu, (row) => row.cpu?.toFixed(2) ?? '–'),
  number(delay, (row) => (row.loop_delay_p99_ms === null ? '–' : spanMs(row.loop_delay_p99_ms))),
  number(crashes, (row) => String(row.crash_restarts)),
  { name: heartbeat, width: 'fit', less: true, show: (row) => <RelativeTime at={row.last_heartbeat_at} /> },
  { name: started, width: 'fit', less: true, show: (row) => <RelativeTime at={row.started_at} /> },
];

function number(head: string, show: (row: Worker) => string): Column<Worker> {
  return { name: head, width: 'fit', end: true, less: true, show: (row) => <span className="num">{show(row)}</span> };
}

function stateOf({ live, stopped_at }: Worker) {
  if (live) {
    return (
      <Badge tone="good" icon={CircleCheck}>
        {states.live}
      </Badge>
    );
  }
  return stopped_at === null ? (
    <Badge tone="bad" icon={CircleX} title={lostAbout}>
      {states.lost}
    </Badge>
  ) : (
    <Badge tone="calm" icon={CircleStop}>
      {states.stopped}
    </Badge>
  );
}
