import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CirclePause, Pause, Play, Snowflake } from 'lucide-react';
import { useState } from 'react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Answered, ErrorPanel } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { HoldQueue } from './hold-queue.tsx';
import { words } from './strings.ts';

type Queue = Outputs['ops']['queues']['data'][number];
type Hold = Outputs['holds']['list']['data'][number];

const EVERY_MS = 3000;
const LATE_S = 20;

export function QueuesPage() {
  const { hold } = useSearch({ from: '/shell/operations/queues' });
  const navigate = useNavigate({ from: '/operations/queues' });
  const [frozen, setFrozen] = useState(false);
  const every = frozen ? false : EVERY_MS;
  const queues = useQuery(trpc.ops.queues.queryOptions({}, { refetchInterval: every }));
  const holds = useQuery(trpc.holds.list.queryOptions({ limit: 100 }, { refetchInterval: every }));
  const held = new Map(
    (holds.data?.data ?? []).filter(({ scope }) => scope === 'queue').map((entry) => [entry.value, entry]),
  );
  const cache = useQueryClient();
  const resume = useMutation({
    mutationFn: ({ id }: Hold) => client.holds.release.mutate({ hold_id: id }),
    async onSuccess(_, { value }) {
      toast(words.resumed(value));
      await cache.invalidateQueries({ queryKey: trpc.holds.pathKey() });
    },
  });
  const actions = {
    hold: (name: string) => void navigate({ search: { hold: name } }),
    resume: (entry: Hold) => resume.mutate(entry),
  };
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={queues.data && answerOf(queues.data.data, held.size)}
        actions={
          <Button onClick={() => setFrozen(!frozen)}>
            {frozen ? <Play size={15} /> : <Snowflake size={15} />}
            {frozen ? words.live : words.freeze}
          </Button>
        }
      />
      {resume.error !== null && <ErrorPanel error={resume.error} />}
      <Answered query={queues}>
        {({ data }) => (
          <List
            label={words.title}
            columns={columns(held, actions)}
            rows={data}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
          />
        )}
      </Answered>
      {hold !== undefined && <HoldQueue name={hold} onClose={() => void navigate({ search: {}, replace: true })} />}
    </Page>
  );
}

function answerOf(queues: readonly Queue[], held: number): string {
  if (queues.every(({ workers }) => workers.length === 0)) return words.answer.none;
  const late = queues
    .filter(({ oldest_ready_seconds }) => (oldest_ready_seconds ?? 0) > LATE_S)
    .toSorted((one, other) => (other.oldest_ready_seconds ?? 0) - (one.oldest_ready_seconds ?? 0))[0];
  if (late) return words.answer.late(late.name, span(late.oldest_ready_seconds ?? 0));
  return held > 0 ? words.answer.held(held) : words.answer.calm;
}

interface Actions {
  readonly hold: (name: string) => void;
  readonly resume: (hold: Hold) => void;
}

function columns(held: ReadonlyMap<string, Hold>, { hold, resume }: Actions): readonly Column<Queue>[] {
  const { name, ready, oldest, active, later, parked, dead, out, fail, wait, drain, workers } = words.columns;
  const number = (head: string, show: (row: Queue) => number | string, less = false): Column<Queue> => ({
    name: head,
    width: 'fit',
    end: true,
    less,
    show: (row) => <span className="num">{show(row)}</span>,
  });
  return [
    {
      name,
      show: (row) => (
        <span className="line" title={row.purpose}>
          <strong className="mono small">{row.name}</strong>
          {held.has(row.name) && (
            <Badge tone="wait" icon={CirclePause} title={held.get(row.name)?.reason}>
              {words.held}
            </Badge>
          )}
        </span>
      ),
    },
    number(ready, (row) => row.ready),
    number(oldest, (row) => (row.oldest_ready_seconds === null ? '–' : span(row.oldest_ready_seconds)), true),
    number(active, (row) => row.active, true),
    number(later, (row) => row.deferred, true),
    number(parked, (row) => row.parked, true),
    number(dead, (row) => row.dead, true),
    number(out, (row) => Math.round(row.out_per_minute), true),
    number(fail, (row) => Math.round(row.fail_per_minute), true),
    number(wait, (row) => p95(row), true),
    number(drain, (row) => drainOf(row), true),
    number(workers, (row) => row.workers.length, true),
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => {
        const entry = held.get(row.name);
        return entry ? (
          <Button small needs="operator" onClick={() => resume(entry)}>
            <Play size={14} />
            {words.resume}
          </Button>
        ) : (
          <Button small needs="operator" onClick={() => hold(row.name)}>
            <Pause size={14} />
            {words.hold}
          </Button>
        );
      },
    },
  ];
}

function p95({ wait }: Queue): string {
  const seconds = wait.find(({ p }) => p === 95)?.seconds;
  return seconds == null ? '–' : seconds < 1 ? `${Math.round(seconds * 1000)} ms` : span(seconds);
}

function drainOf({ ready, drain_seconds }: Queue): string {
  if (ready === 0) return '–';
  return drain_seconds === null ? words.never : span(drain_seconds);
}
