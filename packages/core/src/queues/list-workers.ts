import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { LISTED_FOR_SECONDS, workerName } from './queue-view.ts';
import { type WorkerRow, workerRows } from './store.ts';

export const workerSchema = z
  .object({
    object: objectName('worker'),
    id: z.uuid(),
    name: z.string(),
    host: z.string(),
    version: z.string().nullable().meta({ description: 'The Postrider version; null until the worker reports it.' }),
    live: z
      .boolean()
      .meta({ description: 'Whether it is running: not stopped, with fewer than three missed heartbeats.' }),
    started_at: timeField,
    last_heartbeat_at: timeField,
    stopped_at: timeField.nullable().meta({ description: 'Null while it works, and where it crashed.' }),
    queues: z.array(z.string()).readonly(),
    active: z.int(),
    concurrency: z.int(),
    rss_bytes: z.number().nullable(),
    cpu: z.number().nullable().meta({ description: 'Processor cores used.' }),
    loop_delay_p99_ms: z.number().nullable(),
    pool_waiting: z.int().nullable().meta({ description: 'Requests waiting for a queue pool connection.' }),
    crash_restarts: z.int().meta({ description: 'How often a process on this host ended without a clean shutdown.' }),
  })
  .meta({ id: 'Worker' });
export type WorkerView = z.output<typeof workerSchema>;

export interface Workers {
  readonly object: 'list';
  readonly data: readonly WorkerView[];
}

/** Lists worker processes, latest first; stopped ones are listed for a day. */
export const listWorkers = operation({
  name: 'workers.list',
  scope: 'operator',
  summary: 'List live and recently stopped workers',
  input: z.object({}),
  output: z.object({ object: objectName('list'), data: z.array(workerSchema).readonly() }),
  async run(ctx): Promise<Workers> {
    return { object: 'list', data: (await workerRows(ctx.sql, LISTED_FOR_SECONDS)).map(workerView) };
  },
});

function workerView(row: WorkerRow): WorkerView {
  const queues = row.live ? row.queues : [];
  return {
    object: 'worker',
    id: row.id,
    name: workerName(row),
    host: row.host,
    version: row.version,
    live: row.live,
    started_at: isoTime(row.started_at),
    last_heartbeat_at: isoTime(row.heartbeat_at),
    stopped_at: row.stopped_at && isoTime(row.stopped_at),
    queues: queues.map(({ queue }) => queue),
    active: queues.reduce((sum, { active }) => sum + active, 0),
    concurrency: queues.reduce((sum, { concurrency }) => sum + concurrency, 0),
    rss_bytes: row.rss_bytes,
    cpu: row.cpu,
    loop_delay_p99_ms: row.loop_delay_p99_ms,
    pool_waiting: row.pool_waiting,
    crash_restarts: row.crash_restarts,
  };
}
