import type { ScheduleView, WorkerView } from '@postrider/core/queues';
import type { Command } from 'commander';
import { graphql, mutation, query, select } from '../connect/graphql.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';

interface JobPayload {
  readonly id: string;
  readonly queue: { readonly name: string };
  readonly state: string;
}

const workers = query(
  'workers',
  {},
  select<readonly WorkerView[]>(`id name host version live startedAt lastHeartbeatAt stoppedAt queues active concurrency
    rssBytes cpu loopDelayP99Ms poolWaiting crashRestarts`),
);
const allSchedules = query(
  'schedules',
  {},
  select<readonly ScheduleView[]>(
    'name cron timezone human nextRuns missedPolicy lastRun { id state createdAt completedAt }',
  ),
);
const scheduleRunNow = mutation(
  'scheduleRunNow',
  'ScheduleInput',
  select<{ job: JobPayload }>('... on JobPayload { job { id queue { name } state createdAt } }'),
);

/** Adds the commands for worker processes and cron schedules. */
export function addWorkers(program: Command, terminal: Terminal): void {
  program
    .command('workers')
    .description('worker processes, for operators')
    .command('list')
    .description('list live and recently stopped workers')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await graphql(terminal, workers, {});
      const data = rows.map((worker) => ({ ...worker, object: 'worker' as const }));
      show(terminal, json, { object: 'list', data }, () => table(data.map(workerRow)));
    });
  const schedules = program.command('schedules').description('cron schedules, for operators');
  schedules
    .command('list')
    .description('list schedules with their next run')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await graphql(terminal, allSchedules, {});
      const data = rows.map((schedule) => ({ ...schedule, object: 'schedule' as const }));
      show(terminal, json, { object: 'list', data }, () => table(data.map(scheduleRow)));
    });
  schedules
    .command('run <name>')
    .description('run a scheduled job now, such as storage.maintain')
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .action(async (name: string, { json, reason }: { json?: boolean; reason?: string }) => {
      const { job } = await graphql(terminal, scheduleRunNow, { input: { name, reason } });
      const job_view = { object: 'job', ...job, queue: job.queue.name };
      show(terminal, json, job_view, () => `${job_view.id}  ${job_view.queue} ${job_view.state}`);
    });
}

function workerRow(worker: WorkerView): string[] {
  return [
    worker.name,
    worker.live ? 'live' : worker.stopped_at ? 'stopped' : 'silent',
    `last heartbeat ${worker.last_heartbeat_at}`,
    `${worker.active} of ${worker.concurrency}`,
    worker.rss_bytes === null ? '' : `${Math.round(worker.rss_bytes / 1e6)} MB`,
    worker.cpu === null ? '' : `${worker.cpu.toFixed(2)} cores`,
    worker.loop_delay_p99_ms === null ? '' : `loop ${worker.loop_delay_p99_ms.toFixed(1)} ms`,
    worker.crash_restarts === 0 ? '' : `${worker.crash_restarts} ${worker.crash_restarts === 1 ? 'crash' : 'crashes'}`,
  ];
}

function scheduleRow(schedule: ScheduleView): string[] {
  const { last_run } = schedule;
  return [
    schedule.name,
    schedule.in_words,
    schedule.timezone,
    `next ${schedule.next_runs[0] ?? 'never'}`,
    last_run === null ? '' : `last ${last_run.created_at} ${last_run.state}`,
  ];
}
