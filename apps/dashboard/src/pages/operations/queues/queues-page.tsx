import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CirclePause, Pause, Play, Snowflake } from 'lucide-react';
import { useState } from 'react';
import { unlessFrozen } from '../../../api/polled.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { HoldForm } from '../holds/hold-form.tsx';
import { ReleaseHold } from '../holds/release-hold.tsx';
import { words } from './strings.ts';

type Queue = Outputs['ops']['queues']['data'][number];
type Hold = Outputs['holds']['list']['data'][number];

const LATE_S = 20;

export function QueuesPage() {
  const { hold, release } = useSearch({ from: '/shell/instance/queues' });
  const navigate = useNavigate({ from: '/instance/queues' });
  const [frozen, setFrozen] = useState(false);
  const queues = useQuery(trpc.ops.queues.queryOptions({}, unlessFrozen(frozen)));
  const holds = useQuery(trpc.holds.list.queryOptions({ limit: 100 }, unlessFrozen(frozen)));
  const queue_hold = new Map(
    (holds.data?.data ?? []).filter(({ scope }) => scope === 'queue').map((entry) => [entry.value, entry]),
  );
  const close = (row: string | undefined) => {
    void navigate({ search: {}, replace: true });
    focusRowOf(row);
  };
  const actions = {
    hold: (name: string) => void navigate({ search: { hold: name } }),
    resume: ({ id }: Hold) => void navigate({ search: { release: id } }),
  };
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={queues.data && answerOf(queues.data.data, queue_hold)}
        actions={
          <Button onClick={() => setFrozen(!frozen)}>
            {frozen ? <Play size={15} /> : <Snowflake size={15} />}
            {frozen ? words.live : words.freeze}
          </Button>
        }
      />
      <QueryView query={queues}>
        {({ data }) => (
          <List
            label={words.title}
            columns={columns(queue_hold, actions)}
            rows={data}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
          />
        )}
      </QueryView>
      {hold !== undefined && <HoldForm target={{ scope: 'queue', value: hold }} onClose={() => close(hold)} />}
      {release !== undefined && <ReleaseHold id={release} onClose={() => close(undefined)} />}
    </Page>
  );
}

function answerOf(queues: readonly Queue[], queue_hold: ReadonlyMap<string, Hold>): string {
  if (queues.every(({ workers }) => workers.length === 0)) return words.answer.none;
  const late_queues = queues
    .filter(({ name, oldest_ready_seconds }) => !queue_hold.has(name) && (oldest_ready_seconds ?? 0) > LATE_S)
    .toSorted((one, other) => (other.oldest_ready_seconds ?? 0) - (one.oldest_ready_seconds ?? 0))[0];
  if (late_queues) return words.answer.late(late_queues.name, span(late_queues.oldest_ready_seconds ?? 0));
  return queue_hold.size > 0 ? words.answer.held(queue_hold.size) : words.answer.calm;
}

interface Actions {
  readonly hold: (name: string) => void;
  readonly resume: (hold: Hold) => void;
}

function columns(holds_by_queue: ReadonlyMap<string, Hold>, { hold, resume }: Actions): readonly Column<Queue>[] {
  const { name, ready, oldest, active, later, parked, dead, out, fail, wait, drain, workers } = words.columns;
  const number = (
    head: string,
    show: (row: Queue) => number | string,
    less: Column<Queue>['less'] = false,
  ): Column<Queue> => ({
    name: head,
    width: 'fit',
    end: true,
    less,
    show: (row) => <span className="num">{show(row)}</span>,
  });
  return [
    {
      name,
      // Not a share of the width, so that the other columns cannot clip the name.
      width: 'fit',
      show: (row) => (
        <span className="line" title={row.purpose}>
          <Link className="row-link mono small" to="/instance/queues/$name" params={{ name: row.name }}>
            {row.name}
          </Link>
          {holds_by_queue.has(row.name) && (
            <Badge tone="wait" icon={CirclePause} title={holds_by_queue.get(row.name)?.reason}>
              {words.held}
            </Badge>
          )}
        </span>
      ),
    },
    number(ready, (row) => row.ready),
    number(oldest, (row) => (row.oldest_ready_seconds === null ? '–' : span(row.oldest_ready_seconds)), true),
    number(active, (row) => row.active, true),
    number(later, (row) => row.deferred, 'unless-wide'),
    number(parked, (row) => row.parked, 'unless-wide'),
    number(dead, (row) => row.dead, true),
    number(out, (row) => Math.round(row.out_per_minute), 'unless-wide'),
    number(fail, (row) => Math.round(row.fail_per_minute), 'unless-wide'),
    number(wait, (row) => p95(row), true),
    number(drain, (row) => drainOf(row), 'unless-wide'),
    number(workers, (row) => row.workers.length, 'unless-wide'),
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => {
        const entry = holds_by_queue.get(row.name);
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

export function p95({ wait }: Pick<Queue, 'wait'>): string {
  const seconds = wait.find(({ p }) => p === 95)?.seconds;
  return seconds == null ? '–' : seconds < 1 ? `${Math.round(seconds * 1000)} ms` : span(seconds);
}

export function drainOf({ ready, drain_seconds }: Pick<Queue, 'ready' | 'drain_seconds'>): string {
  if (ready === 0) return '–';
  return drain_seconds === null ? words.never : span(drain_seconds);
}
