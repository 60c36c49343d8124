import { setTimeout as pause } from 'node:timers/promises';
import { type Context, invoke } from '@postrider/core';
import {
  cancelJob,
  getJob,
  type JobDetail,
  type JobView,
  listJobs,
  listQueues,
  type QueueView,
  redriveQueue,
  retryJob,
  runJobNow,
  setConcurrency,
} from '@postrider/core/queues';
import { type Command, InvalidArgumentError } from 'commander';
import { withMachine } from '../connect/machine.ts';
import { foundTable, plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { addHolds } from './holds.ts';

const WATCH_MS = 2000;
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

interface JsonOption {
  readonly json?: boolean;
}

interface ActionOptions extends JsonOption {
  readonly reason?: string;
}

/** Queues, their jobs, and the admin actions on them. */
export function addQueues(program: Command, terminal: Terminal): void {
  const queues = program.command('queues').description('on the machine itself: queues and their jobs');
  const here = <T>(work: (ctx: Context) => Promise<T>) =>
    withMachine(terminal, async (machine) => work(await machine.asWorkspace()));

  queues
    .command('top')
    .description('every queue, as last measured')
    .option('--watch', 'refresh every two seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption & { watch?: boolean }) => {
      const ended = new AbortController();
      if (options.watch) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
      await here(async (ctx) => {
        do {
          const found = await invoke(ctx, listQueues, {});
          const clear = options.watch && !options.json ? CLEAR_SCREEN : '';
          show(terminal, options.json, found, () => clear + table([HEADER, ...found.data.map(queueRow)]));
        } while (options.watch && (await paused(ended.signal)));
      });
    });

  queues
    .command('jobs')
    .description('jobs, latest first')
    .option('--queue <name>', 'of one queue')
    .option('--state <state>', 'deferred, ready, active, retry, completed, canceled or dead')
    .option('--subject <id>', 'about a message, a webhook, a workspace or a domain')
    .option('-n, --limit <count>', 'how many', wholeNumber, 20)
    .option('--cursor <cursor>', 'where the page before ended')
    .option('--json', 'print JSON')
    .action(async ({ json, ...filter }: JsonOption & Record<string, unknown>) => {
      const found = await here((ctx) => invoke(ctx, listJobs, filter));
      show(terminal, json, found, () => foundTable(found.data.map(jobRow)));
      if (!json && found.next_cursor) terminal.note(`There may be more: --cursor ${found.next_cursor}`);
    });

  queues
    .command('job <id>')
    .description('one job with its attempts')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: JsonOption) => {
      const job = await here((ctx) => invoke(ctx, getJob, { id }));
      show(terminal, json, job, () => [table([jobRow(job)]), ...job.attempts.map(attemptLine)].join('\n'));
    });

  for (const [name, lever, description] of [
    ['retry', retryJob, 'try a dead or canceled job again, or a deferred mail at once'],
    ['cancel', cancelJob, 'cancel a waiting job, or dismiss a dead one'],
    ['run', runJobNow, 'run a deferred job now'],
  ] as const) {
    queues
      .command(`${name} <job>`)
      .description(description)
      .option('--reason <text>', 'recorded in the audit log')
      .option('--json', 'print JSON')
      .action(async (id: string, { json, reason }: ActionOptions) => {
        const job = await here((ctx) => invoke(ctx, lever, { id, reason }));
        show(terminal, json, job, () => table([jobRow(job)]));
      });
  }

  queues
    .command('redrive <queue>')
    .description('retry the dead jobs of a queue')
    .option('--preview', 'only count them')
    .option('--limit <count>', 'the most jobs to retry', wholeNumber)
    .option('--reason <text>', 'recorded in the audit log')
    .option('--json', 'print JSON')
    .action(async (queue: string, { json, ...options }: ActionOptions & { preview?: boolean; limit?: number }) => {
      const done = await here((ctx) => invoke(ctx, redriveQueue, { queue, ...options }));
      show(terminal, json, done, () =>
        done.preview ? `${done.dead} jobs are dead` : `${done.redriven} of ${done.dead} dead jobs are retried`,
      );
    });

  queues
    .command('concurrency <queue> <count>')
    .description('how many jobs of a queue each worker runs at once, on every worker within two seconds')
    .option('--reason <text>', 'recorded in the audit log')
    .option('--json', 'print JSON')
    .action(async (queue: string, count: string, { json, reason }: ActionOptions) => {
      const concurrency = wholeNumber(count);
      const done = await here((ctx) => invoke(ctx, setConcurrency, { queue, concurrency, reason }));
      show(terminal, json, done, () => `${done.name} runs ${done.concurrency} at once on each worker`);
    });
  addHolds(queues, terminal);
}

const HEADER = [
  'queue',
  'ready',
  'deferred',
  'active',
  'dead',
  'parked',
  'oldest',
  'out/min',
  'fail/min',
  'wait p95',
  'run p95',
  'drained in',
];

function queueRow(queue: QueueView): string[] {
  const p95 = (times: QueueView['wait']) => seconds(times.find(({ p }) => p === 95)?.seconds ?? null);
  return [
    queue.name,
    ...[queue.ready, queue.deferred, queue.active, queue.dead, queue.parked].map(String),
    seconds(queue.oldest_ready_seconds),
    rate(queue.out_per_minute),
    rate(queue.fail_per_minute),
    p95(queue.wait),
    p95(queue.run),
    queue.ready === 0 ? '-' : seconds(queue.drain_seconds),
  ];
}

function jobRow(job: JobView): string[] {
  const output =
    typeof job.output === 'object' && job.output !== null && 'message' in job.output ? job.output.message : '';
  return [
    job.id,
    job.queue,
    job.state,
    job.start_after,
    job.subject?.id ?? '',
    plain(job.parked_in === null ? String(output) : `waits for ${job.parked_in}`),
  ];
}

function attemptLine({ number, started_at, duration_ms, error, worker }: JobDetail['attempts'][number]): string {
  const took = duration_ms === null ? '' : ` ${Math.round(duration_ms)} ms`;
  const end = error === null ? 'ok' : plain(`${error.name}: ${error.message}`);
  return `  ${number}. ${started_at}${took}${worker === null ? '' : ` on ${worker}`}: ${end}`;
}

function seconds(value: number | null): string {
  if (value === null) return '-';
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return value < 600 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
}

function rate(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

async function paused(signal: AbortSignal): Promise<boolean> {
  await pause(WATCH_MS, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
