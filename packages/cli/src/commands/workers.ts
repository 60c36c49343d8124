import { invoke } from '@postrider/core';
import { listSchedules, listWorkers, runSchedule, type ScheduleView, type WorkerView } from '@postrider/core/queues';
import type { Command } from 'commander';
import { withMachine } from '../connect/machine.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';

/** Worker processes and cron schedules. */
export function addWorkers(program: Command, terminal: Terminal): void {
  program
    .command('workers')
    .description('on the machine itself: worker processes')
    .command('list')
    .description('live and recently stopped workers')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const found = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), listWorkers, {}),
      );
      show(terminal, json, found, () => table(found.data.map(workerRow)));
    });
  const schedules = program.command('schedules').description('on the machine itself: cron schedules');
  schedules
    .command('list')
    .description('every schedule, and when it runs next')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const found = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), listSchedules, {}),
      );
      show(terminal, json, found, () => table(found.data.map(scheduleRow)));
    });
  schedules
    .command('run <name>')
    .description('run now what a schedule, such as storage.maintain, runs by the clock')
    .option('--reason <text>', 'recorded in the audit log')
    .option('--json', 'print JSON')
    .action(async (name: string, { json, reason }: { json?: boolean; reason?: string }) => {
      const job = await withMachine(terminal, async (machine) => {
        const ctx = await machine.asWorkspace();
        await ctx.jobs.start();
        try {
          return await invoke(ctx, runSchedule, { name, reason });
        } finally {
          await ctx.jobs.stop();
        }
      });
      show(terminal, json, job, () => `${job.id}  ${job.queue} ${job.state}`);
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
    worker.crash_restarts === 0 ? '' : `${worker.crash_restarts} crashes`,
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
