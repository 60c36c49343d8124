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

/** Zeros and dashes are faint, so that what needs attention stands out. */
function number(head: string, show: (row: Queue) => number | string, weight: 'main' | 'more' = 'more'): Column<Queue> {
  return {
    name: head,
    width: 'fit',
    end: true,
    less: 'unless-wide',
    show: (row) => {
      const value = show(row);
      if (value === 0 || value === '–') return <span className="num faint">{value}</span>;
      const text = typeof value === 'number' ? value.toLocaleString('en') : value;
      return weight === 'main' ? <strong className="num">{text}</strong> : <span className="num">{text}</span>;
    },
  };
}

/** Summarizes the columns that a phone has no room for. */
function shortOf(row: Queue): string {
  const parts = [
    row.oldest_ready_seconds !== null && words.short.oldest(oldestOf(row)),
    row.failed_last_hour > 0 && words.short.failed(row.failed_last_hour),
    row.dead > 0 && words.short.dead(row.dead),
  ].filter((part) => part !== false);
  return parts.length === 0 ? words.short.none : parts.join(' · ');
}

function oldestOf({ oldest_ready_seconds }: Queue): string {
  return oldest_ready_seconds === null ? '–' : span(oldest_ready_seconds);
}

interface Actions {
  readonly hold: (name: string) => void;
  readonly resume: (hold: Hold) => void;
}

function columns(holds_by_queue: ReadonlyMap<string, Hold>, { hold, resume }: Actions): readonly Column<Queue>[] {
  const heads = words.columns;
  return [
    {
      name: heads.name,
      show: (row) => (
        <>
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
          <span className="below faint">{shortOf(row)}</span>
        </>
      ),
    },
    { ...number(heads.ready, (row) => row.ready, 'main'), less: false },
    { ...number(heads.oldest, oldestOf, 'main'), less: 'not-phone' },
    { ...number(heads.failed, (row) => row.failed_last_hour, 'main'), less: 'not-phone' },
    { ...number(heads.dead, (row) => row.dead, 'main'), less: 'not-phone' },
    { ...number(heads.active, (row) => row.active), less: true },
    { ...number(heads.wait, p95), less: true },
    number(heads.later, (row) => row.deferred),
    number(heads.parked, (row) => row.parked),
    number(heads.out, (row) => Math.round(row.out_per_minute)),
    number(heads.drain, drainOf),
    number(heads.workers, (row) => row.workers.length),
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
