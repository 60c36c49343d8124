import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CirclePause, Pause, Play } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { useNow } from '../../../parts/clock.ts';
import { Choices } from '../../../parts/field.tsx';
import { Figures, Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { BulkDialog } from '../bulk/bulk-dialog.tsx';
import { HoldForm } from '../holds/hold-form.tsx';
import { ReleaseHold } from '../holds/release-hold.tsx';
import { QueueHistory } from './queue-history.tsx';
import { drainOf, p95 } from './queues-page.tsx';
import { type QueueRange, queueRanges, rangeMs } from './ranges.ts';
import { SetConcurrency } from './set-concurrency.tsx';
import { words } from './strings.ts';

type Queue = Outputs['ops']['queue'];
type Hold = Outputs['holds']['list']['data'][number];

const MINUTE_MS = 60_000;
const text = words.detail;

/** Shows one queue: what it contains now, its history, and what people did to it. */
export function QueuePage() {
  const { name } = useParams({ from: '/shell/instance/queues/$name' });
  const queue = useQuery(trpc.ops.queue.queryOptions({ queue: name }));
  return (
    <Page>
      <QueryView query={queue} head={<PageHeader title={name} />}>
        {(data) => <QueueView queue={data} />}
      </QueryView>
    </Page>
  );
}

function QueueView({ queue }: { readonly queue: Queue }) {
  const { name, dead } = queue;
  const { range = 'hour', open } = useSearch({ from: '/shell/instance/queues/$name' });
  const navigate = useNavigate({ from: '/instance/queues/$name' });
  const holds = useQuery(trpc.holds.list.queryOptions({ limit: 100, active: false }));
  const own = (holds.data?.data ?? []).filter(({ scope, value }) => scope === 'queue' && value === name);
  const hold = own.find(({ status }) => status === 'active');
  const show = (dialog: NonNullable<typeof open>) =>
    void navigate({ search: (search) => ({ ...search, open: dialog }) });
  const close = () => void navigate({ search: ({ open: _, ...search }) => search, replace: true });
  const until = useNow(MINUTE_MS);
  const since = new Date(Math.floor(until / MINUTE_MS) * MINUTE_MS - rangeMs[range]).toISOString();
  return (
    <>
      <PageHeader
        name={name}
        title={
          <span className="line">
            <span className="mono">{name}</span>
            {hold && (
              <Badge tone="wait" icon={CirclePause} title={hold.reason}>
                {words.held}
              </Badge>
            )}
          </span>
        }
        answer={answerOf(queue, hold)}
        actions={
          <>
            {dead > 0 && (
              <Button needs="operator" onClick={() => show('redrive')}>
                {text.redrive}
              </Button>
            )}
            <Button needs="operator" onClick={() => show('concurrency')}>
              {text.change}
            </Button>
            <Button needs="operator" onClick={() => show(hold ? 'release' : 'hold')}>
              {hold ? <Play size={15} /> : <Pause size={15} />}
              {hold ? words.resume : words.hold}
            </Button>
          </>
        }
      />
      <Now queue={queue} />
      <Choices<QueueRange>
        label={text.range}
        options={queueRanges.map((one) => [one, text.ranges[one]] as const)}
        value={range}
        onChange={(next) => void navigate({ search: (search) => ({ ...search, range: next }) })}
      />
      <QueueHistory queue={name} since={since} holds={own} />
      {open === 'hold' && <HoldForm target={{ scope: 'queue', value: name }} onClose={close} />}
      {open === 'release' && hold && <ReleaseHold id={hold.id} onClose={close} />}
      {open === 'concurrency' && <SetConcurrency queue={name} current={queue.concurrency} onClose={close} />}
      {open === 'redrive' && (
        <BulkDialog
          plan={{ action: 'redrive', filter: { queue: name }, title: text.redriveTitle(name) }}
          onClose={close}
        />
      )}
    </>
  );
}

function answerOf(queue: Queue, hold: Hold | undefined): string {
  if (hold) return text.held(hold.created_by.name, hold.reason);
  return queue.ready === 0
    ? `${queue.purpose} ${text.idle}`
    : text.answer(queue.ready.toLocaleString('en'), p95(queue));
}

function Now({ queue }: { readonly queue: Queue }) {
  const { columns } = words;
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const figures: readonly (readonly [string, string])[] = [
    [columns.ready, count(queue.ready)],
    [columns.oldest, queue.oldest_ready_seconds === null ? '–' : span(queue.oldest_ready_seconds)],
    [columns.active, count(queue.active)],
    [columns.later, count(queue.deferred)],
    [columns.dead, count(queue.dead)],
    [columns.out, count(queue.out_per_minute)],
    [columns.drain, drainOf(queue)],
    [text.concurrency, `${queue.workers.length} × ${queue.concurrency}`],
  ];
  return (
    <Panel
      title={text.figures}
      bare
      actions={
        <Link to="/instance/jobs" search={{ queue: queue.name }}>
          {text.jobs}
        </Link>
      }
    >
      <Figures all={figures.map(([name, value]) => ({ name, value }))} />
    </Panel>
  );
}
