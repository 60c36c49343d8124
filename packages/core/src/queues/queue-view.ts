import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import type { Context } from '../operation/context.ts';
import { catalogue, type JobName } from '../process/jobs.ts';
import { percentileOf, sumOf } from './run-times.ts';
import {
  concurrencies,
  failuresOf,
  type MeasureRow,
  type MinuteRow,
  measuresOf,
  minutesOf,
  type WorkerRow,
  workerRows,
} from './store.ts';

const RATE_MINUTES = 5;
const HOUR_MINUTES = 60;
export const LISTED_FOR_SECONDS = 86_400;

const percentileSchema = z
  .object({ p: z.int(), seconds: z.number().nullable().meta({ description: 'Null where nothing ran.' }) })
  .meta({ id: 'Percentile' });

export const queueSchema = z
  .object({
    object: objectName('queue'),
    name: z.string(),
    purpose: z.string(),
    ready: z.int().meta({ description: 'Jobs that are due and not started.' }),
    deferred: z.int().meta({ description: 'Jobs due later, including retries.' }),
    active: z.int().meta({ description: 'Running jobs.' }),
    dead: z.int().meta({ description: 'Jobs with no retries left.' }),
    parked: z.int().meta({ description: 'Due email that waits for its destination outside the queue.' }),
    oldest_ready_seconds: z.number().nullable().meta({ description: 'How long the oldest ready job has been due.' }),
    in_per_minute: z.number().nullable(),
    out_per_minute: z.number().meta({ description: 'Jobs completed in the last five minutes.' }),
    fail_per_minute: z.number().meta({ description: 'Failed runs: deferrals or errors.' }),
    failed_last_hour: z.int().meta({ description: 'Failed runs in the last hour: deferrals or errors.' }),
    drain_seconds: z
      .number()
      .nullable()
      .meta({ description: 'Until nothing is ready, at these rates; null where it does not get less.' }),
    wait: z.array(percentileSchema).readonly(),
    run: z.array(percentileSchema).readonly(),
    concurrency: z.int().meta({ description: 'Concurrent jobs per worker.' }),
    workers: z
      .array(z.object({ id: z.string(), name: z.string(), active: z.int() }))
      .readonly()
      .meta({ description: 'Live workers for this queue.' }),
    measured_at: timeField.nullable().meta({ description: 'When it was counted; null where no worker has yet.' }),
  })
  .meta({ id: 'Queue' });
export type QueueView = z.output<typeof queueSchema>;

export const windowField = z
  .int()
  .min(1)
  .max(1440)
  .default(15)
  .meta({ description: 'Window in minutes for the wait and run times.' });

export const percentilesField = z
  .array(z.int().min(1).max(100))
  .max(20)
  .default([50, 95, 99])
  .meta({ description: 'Percentiles of wait and run times.' });

/** The options common to every view. */
export interface QueueOptions {
  readonly window_minutes: number;
  readonly percentiles: readonly number[];
}

export const DEFAULTS: QueueOptions = { window_minutes: 15, percentiles: [50, 95, 99] };

/** Returns queues as last measured by a worker; does not read the queues themselves. */
export async function queueViews(ctx: Context, names: readonly JobName[], options: QueueOptions): Promise<QueueView[]> {
  const { sql } = ctx;
  const [measures, { rows, now }, failures, set, workers] = await Promise.all([
    measuresOf(sql),
    minutesOf(sql, names, Math.max(options.window_minutes, RATE_MINUTES + 1)),
    failuresOf(sql, names, HOUR_MINUTES),
    concurrencies(sql),
    workerRows(sql, LISTED_FOR_SECONDS),
  ]);
  const minutes = Map.groupBy(rows, (row) => row.queue);
  return names.map((name) =>
    viewOf(name, {
      measure: measures.get(name) ?? null,
      minutes: minutes.get(name) ?? [],
      failed_last_hour: failures.get(name) ?? 0,
      now,
      options,
      concurrency: set.get(name) ?? catalogue[name].concurrency,
      workers,
    }),
  );
}

function viewOf(
  name: JobName,
  facts: {
    readonly measure: MeasureRow | null;
    readonly minutes: readonly MinuteRow[];
    readonly failed_last_hour: number;
    readonly now: Date;
    readonly options: QueueOptions;
    readonly concurrency: number;
    readonly workers: readonly WorkerRow[];
  },
): QueueView {
  const { measure, minutes, now, options } = facts;
  const rates = ratesOf(minutes, measure, now);
  const window = minutes.filter((row) => row.minute.getTime() > now.getTime() - options.window_minutes * 60_000);
  const waits = sumOf(window.map((row) => row.wait_bins));
  const runs = sumOf(window.map((row) => row.run_bins));
  const ready = measure?.ready ?? 0;
  return {
    object: 'queue',
    name,
    purpose: catalogue[name].purpose,
    ready,
    deferred: measure?.deferred ?? 0,
    active: measure?.active ?? 0,
    dead: measure?.dead ?? 0,
    parked: measure?.parked ?? 0,
    oldest_ready_seconds: measure?.oldest_ready_seconds ?? null,
    in_per_minute: rates.in,
    out_per_minute: rates.out,
    fail_per_minute: rates.fail,
    failed_last_hour: facts.failed_last_hour,
    drain_seconds: drainSeconds(ready, rates),
    wait: options.percentiles.map((p) => ({ p, seconds: percentileOf(waits, p) })),
    run: options.percentiles.map((p) => ({ p, seconds: percentileOf(runs, p) })),
    concurrency: facts.concurrency,
    workers: facts.workers.flatMap((worker) => {
      const queue_row = worker.live ? worker.queues.find(({ queue }) => queue === name) : undefined;
      return queue_row ? [{ id: worker.id, name: workerName(worker), active: queue_row.active }] : [];
    }),
    measured_at: measure ? isoTime(measure.measured_at) : null,
  };
}

interface Rates {
  readonly in: number | null;
  readonly out: number;
  readonly fail: number;
}

/**
 * Arrivals are derived from backlog growth plus finished jobs, because counting them would cost a write per message.
 */
function ratesOf(minutes: readonly MinuteRow[], measure: MeasureRow | null, now: Date): Rates {
  const from = Math.floor(now.getTime() / 60_000) * 60_000 - (RATE_MINUTES - 1) * 60_000;
  const recent = minutes.filter((row) => row.minute.getTime() >= from);
  const span = (now.getTime() - from) / 60_000;
  const out = sum(recent, 'finished') / span;
  const fail = sum(recent, 'failed') / span;
  const base = minutes.find((row) => row.measured_at !== null && row.minute.getTime() >= from - 60_000);
  const passed = measure && base?.measured_at ? measure.measured_at.getTime() - base.measured_at.getTime() : 0;
  if (!measure || !base || passed <= 0) return { in: null, out, fail };
  const done = sum(
    recent.filter((row) => row.minute > base.minute),
    'finished',
  );
  const grown = backlogOf(measure) - backlogOf(base);
  return { in: Math.max(0, ((grown + done) * 60_000) / passed), out, fail };
}

function sum(rows: readonly MinuteRow[], field: 'finished' | 'failed'): number {
  return rows.reduce((total, row) => total + row[field], 0);
}

function backlogOf(row: Pick<MinuteRow, 'ready' | 'deferred' | 'active' | 'dead' | 'parked'>): number {
  return (row.ready ?? 0) + (row.deferred ?? 0) + (row.active ?? 0) + (row.dead ?? 0) + (row.parked ?? 0);
}

function drainSeconds(ready: number, rates: Rates): number | null {
  if (ready === 0) return 0;
  const shrinks = rates.out - (rates.in ?? 0);
  return shrinks > 0 ? (ready / shrinks) * 60 : null;
}

/** Returns the configured name of a worker, or its host. */
export function workerName(worker: Pick<WorkerRow, 'name' | 'host' | 'pid'>): string {
  return worker.name ?? `${worker.host}:${worker.pid}`;
}
