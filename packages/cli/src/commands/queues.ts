import { program_name } from '@postrider/core/program';
import type { JobDetail, JobView, QueueView } from '@postrider/core/queues';
import { type Command, InvalidArgumentError } from 'commander';
import { interruption, paused } from '../connect/follow.ts';
import { enumValue, graphql, listQuery, mutation, pageOf, query, select } from '../connect/graphql.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { foundTable, plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { addHolds } from './holds.ts';

const WATCH_SECONDS = 2;
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

interface JsonOption {
  readonly json?: boolean;
}

interface ActionOptions extends JsonOption {
  readonly reason?: string;
}

interface JobsOptions extends JsonOption {
  readonly queue?: string;
  readonly state?: string;
  readonly subject?: string;
  readonly limit: number;
  readonly cursor?: string;
}

interface RedriveOptions extends ActionOptions {
  readonly preview?: boolean;
  readonly limit?: number;
  readonly yes?: boolean;
}

interface Redriven {
  readonly queue_name: string;
  readonly dead: number;
  readonly redriven: number;
}

/** A job as returned by GraphQL. */
interface JobRow extends Omit<JobView, 'object' | 'queue' | 'subject' | 'workspace_id'> {
  readonly queue: { readonly name: string };
  readonly subject_id: string | null;
}

const QUEUE = `name purpose ready deferred active dead parked oldestReadySeconds inPerMin outPerMin failPerMin
  drainSeconds wait { p seconds } run { p seconds } concurrency workers { id name active } measuredAt`;
const JOB = `id queue { name } state data output retryCount retryLimit priority startAfter createdAt startedAt
  completedAt heartbeatAt parkedIn subjectId worker { id name }`;
const allQueues = query('queues', {}, select<readonly QueueView[]>(QUEUE));
const queueSetConcurrency = mutation(
  'queueSetConcurrency',
  'ConcurrencyInput',
  select<{ queue: QueueView }>(`... on QueuePayload { queue { ${QUEUE} } }`),
);
const queueRedrive = mutation(
  'queueRedrive',
  'RedriveInput',
  select<Redriven>('... on RedrivePayload { queueName dead redriven }'),
);
const jobs = listQuery('jobs', { filter: 'JobFilter' }, select<JobRow>(JOB));
const jobDetail = query(
  'node',
  { id: 'ID!' },
  select<(JobRow & Pick<JobDetail, 'attempts'>) | null>(
    `... on Job { ${JOB} attempts { number startedAt durationMs error worker } }`,
  ),
);
const CHANGED = select<{ job: JobRow }>(`... on JobPayload { job { ${JOB} } }`);
const jobRetry = mutation('jobRetry', 'JobInput', CHANGED);
const jobCancel = mutation('jobCancel', 'JobInput', CHANGED);
const jobRunNow = mutation('jobRunNow', 'JobInput', CHANGED);

/** Adds the commands for queues, their jobs, and the admin actions on both. */
export function addQueues(program: Command, terminal: Terminal): void {
  const queues = program.command('queues').description('queues, their jobs and holds, for operators');

  queues
    .command('top')
    .description('list queues')
    .option('--watch', 'refresh every two seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption & { watch?: boolean }) => {
      const signal = options.watch ? interruption() : null;
      do {
        const data = (await graphql(terminal, allQueues, {})).map(withObject('queue'));
        const clear = options.watch && !options.json ? CLEAR_SCREEN : '';
        show(terminal, options.json, { object: 'list', data }, () => clear + table([HEADER, ...data.map(queueRow)]));
      } while (signal && (await paused(WATCH_SECONDS, signal)));
    });

  queues
    .command('jobs')
    .description('list jobs, newest first')
    .option('--queue <name>', 'queue name')
    .option('--state <state>', 'deferred, ready, active, retry, completed, canceled or dead')
    .option('--subject <id>', 'message, webhook, workspace or domain')
    .option('-n, --limit <count>', 'number of results', wholeNumber, 20)
    .option('--cursor <cursor>', 'cursor from the previous page')
    .option('--json', 'print JSON')
    .action(async ({ json, limit, cursor, queue, state, subject }: JobsOptions) => {
      const filter = { queue, state: enumValue(state), subject };
      const page = await pageOf(terminal, jobs, { first: limit, after: cursor, filter });
      const list = { ...page, data: page.data.map(jobView) };
      show(terminal, json, list, () => foundTable(list.data.map(jobRow)));
      if (!json && list.next_cursor)
        terminal.note(`There may be more results. Next page: --cursor ${list.next_cursor}`);
    });

  queues
    .command('job <id>')
    .description('show a job with its attempts')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: JsonOption) => {
      const job = await jobOf(terminal, id);
      show(terminal, json, job, () => [table([jobRow(job)]), ...job.attempts.map(attemptLine)].join('\n'));
    });

  for (const [name, document, description] of [
    ['retry', jobRetry, 'retry a dead or canceled job, or a deferred email immediately'],
    ['cancel', jobCancel, 'cancel a waiting job, or dismiss a dead one'],
    ['run', jobRunNow, 'run a deferred job now'],
  ] as const) {
    queues
      .command(`${name} <job>`)
      .description(description)
      .option('--reason <text>', 'reason for the audit log')
      .option('--json', 'print JSON')
      .action(async (id: string, { json, reason }: ActionOptions) => {
        const job = jobView((await graphql(terminal, document, { input: { id, reason } })).job);
        show(terminal, json, job, () => table([jobRow(job)]));
      });
  }

  queues
    .command('redrive <queue>')
    .description('retry the dead jobs in a queue')
    .option('--preview', 'count the dead jobs without retrying them')
    .option('--limit <count>', 'maximum number of jobs to retry', wholeNumber)
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .option(...yesOption)
    .action(async (queue: string, { json, yes, preview = false, ...options }: RedriveOptions) => {
      const ask = (input: { readonly preview: boolean; readonly limit?: number }) =>
        graphql(terminal, queueRedrive, { input: { queue, ...options, ...input } });
      const { queue_name, ...counts } = await ask({ preview: true });
      let done = { queue: queue_name, ...counts, preview };
      if (!preview) {
        const count = Math.min(counts.dead, options.limit ?? counts.dead);
        await confirm(terminal, {
          preview: `${count} dead ${count === 1 ? 'job' : 'jobs'} in ${queue} would be retried.`,
          count,
          yes,
        });
        done = { ...done, ...(await ask({ preview: false, limit: count })), preview };
      }
      show(terminal, json, done, () =>
        done.preview ? `Dead jobs: ${done.dead}` : `Retrying ${done.redriven} of ${done.dead} dead jobs`,
      );
    });

  queues
    .command('concurrency <queue> <count>')
    .description('set how many jobs from a queue each worker runs concurrently, effective within two seconds')
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .action(async (queue: string, count: string, { json, reason }: ActionOptions) => {
      const concurrency = wholeNumber(count);
      const input = { queue, concurrency, reason };
      const done = await graphql(terminal, queueSetConcurrency, { input });
      const set = withObject('queue')(done.queue);
      show(terminal, json, set, () => `Concurrency for ${set.name} set to ${set.concurrency} per worker`);
    });
  addHolds(queues, terminal);
}

const withObject =
  (object: string) =>
  <T extends object>(value: T): T & { readonly object: string } => ({ object, ...value });

/** Returns a job as printed. */
function jobView({ queue, subject_id, ...job }: JobRow): JobView {
  const { workspace_id } = job.data;
  return {
    object: 'job',
    ...job,
    queue: queue.name,
    workspace_id: typeof workspace_id === 'string' ? workspace_id : null,
    subject: subject_id === null ? null : { type: typeOf(subject_id), id: subject_id },
  };
}

function typeOf(id: string): NonNullable<JobView['subject']>['type'] {
  if (id.startsWith('msg_')) return 'message';
  return id.startsWith('whk_') ? 'webhook' : 'domain';
}

async function jobOf(terminal: Terminal, id: string): Promise<JobDetail> {
  const job = await graphql(terminal, jobDetail, { id });
  if (job !== null && 'queue' in job) return { ...jobView(job), attempts: job.attempts };
  const advice = `Run \`${program_name} queues jobs\` to list jobs.`;
  throw new Problem({ reason: 'job_not_found', message: `No job with ID ${id}.`, advice });
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
  'drains in',
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
    plain(job.parked_in === null ? String(output) : `waiting for ${job.parked_in}`),
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
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return Number(text);
}
