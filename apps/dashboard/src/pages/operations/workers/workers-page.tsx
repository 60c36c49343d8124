import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { trpc } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, QueryView } from '../../../parts/states.tsx';
import { RelativeTime, spanMs } from '../../../parts/times.tsx';
import { words } from './strings.ts';
import { memory, stateName, type Worker, WorkerBadge, WorkerView } from './worker-view.tsx';

const text = words.workers;

export function WorkersPage() {
  const { worker: opened } = useSearch({ from: '/shell/instance/workers' });
  const navigate = useNavigate({ from: '/instance/workers' });
  const workers = useQuery(trpc.ops.workers.queryOptions({}));
  const all = workers.data?.data;
  const shown = all?.find(({ id }) => id === opened);
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(opened);
  };
  return (
    <Page>
      <PageHeader title={text.title} answer={all && answerOf(all)} />
      <QueryView query={workers}>
        {({ data }) => (
          <>
            {!data.some(({ live }) => live) && (
              <Empty title={text.start.title}>
                <p>{text.start.about}</p>
                <CodeBlock text={text.start.command} what={text.start.what} />
              </Empty>
            )}
            {data.length > 0 && (
              <List
                label={text.title}
                columns={columns}
                rows={data}
                idOf={({ id }) => id}
                nameOf={({ name }) => name}
                onOpen={({ id }) => void navigate({ search: { worker: id } })}
              />
            )}
          </>
        )}
      </QueryView>
      {opened !== undefined && (
        <Drawer title={shown?.name ?? text.title} onClose={close}>
          <QueryView query={workers}>
            {() => (shown ? <WorkerView worker={shown} /> : <p className="muted">{text.detail.gone}</p>)}
          </QueryView>
        </Drawer>
      )}
    </Page>
  );
}

function answerOf(workers: readonly Worker[]): string {
  const live = workers.filter((worker) => worker.live);
  if (live.length === 0) return text.answer.none;
  const active = live.reduce((sum, worker) => sum + worker.active, 0);
  return text.answer.some(live.length, active, workers.length - live.length);
}

const columns: readonly Column<Worker>[] = [
  {
    name: text.columns.name,
    show: (row) => (
      <>
        <Link className="row-link" from="/instance/workers" search={{ worker: row.id }} title={row.id}>
          {row.name}
        </Link>{' '}
        <span className="faint not-phone">{row.version}</span>
        <span className="below faint">
          {stateName(row)} · {text.jobs(row.active)} · <RelativeTime at={row.last_heartbeat_at} />
        </span>
      </>
    ),
  },
  { name: text.columns.state, width: 'fit', less: 'not-phone', show: (row) => <WorkerBadge worker={row} /> },
  number(text.columns.active, (row) => (row.live ? text.of(row.active, row.concurrency) : null)),
  number(text.columns.memory, (row) => (row.live ? memory(row) : null)),
  number(text.columns.cpu, (row) => (row.live && row.cpu !== null ? row.cpu.toFixed(2) : null)),
  number(text.columns.delay, (row) =>
    row.live && row.loop_delay_p99_ms !== null ? spanMs(row.loop_delay_p99_ms) : null,
  ),
  {
    name: text.columns.crashes,
    width: 'fit',
    end: true,
    less: 'unless-wide',
    show: ({ crash_restarts }) => <span className={crash_restarts === 0 ? 'num faint' : 'num'}>{crash_restarts}</span>,
  },
  {
    name: text.columns.heartbeat,
    width: 'fit',
    less: true,
    show: (row) => <RelativeTime at={row.last_heartbeat_at} />,
  },
  {
    name: text.columns.started,
    width: 'fit',
    less: 'unless-wide',
    show: (row) => <RelativeTime at={row.started_at} />,
  },
];

function number(head: string, show: (row: Worker) => string | null): Column<Worker> {
  return {
    name: head,
    width: 'fit',
    end: true,
    less: true,
    show: (row) => <span className="num">{show(row) ?? <span className="faint">–</span>}</span>,
  };
}
