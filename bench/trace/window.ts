import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorSeconds } from '../measure/processor-time.ts';
import { readTicks } from '../measure/steal.ts';
import { MAIN_THREAD, threadSeconds } from '../measure/thread-times.ts';
import { type ProductDatabase, type ProductProcess, startProduct } from '../product/product.ts';
import { areaShares, profileInto } from './profile.ts';
import { costliestStatements, countStatements, type StatementCost } from './statements.ts';
import { readSteps, type StepTime, stepTimes } from './steps.ts';

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url));
const STATEMENTS = 12;

export interface TracedProcess extends ProductProcess {
  readonly name: string;
  readonly profiles: string;
  readonly steps: string;
}

/** What a stretch of work used, per message. */
export interface Window {
  readonly idle_percent: number;
  readonly postgres_us: number;
  /** By process, then by thread. */
  readonly threads_us: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly statements: readonly (StatementCost & { readonly us: number })[];
  readonly bounds_us: readonly [number, number];
}

/** Starts a service that is profiled and reports the steps of its deliveries. */
export async function startTraced(
  product: ProductDatabase,
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<TracedProcess> {
  const profiles = join(folder, name);
  const steps = join(folder, `${name}.json`);
  mkdirSync(profiles, { recursive: true });
  const settings = { ...env, TRACE_FILE: steps };
  const running = await startProduct(product, settings, 'shown', [...profileInto(profiles), '--import', PROBE]);
  return { ...running, name, profiles, steps };
}

/** Begins a window; the function returned ends it. */
export async function openWindow(
  { sql, postmaster }: ProductDatabase,
  processes: readonly TracedProcess[],
): Promise<(count: number) => Promise<Window>> {
  await countStatements(sql);
  const before = processes.map(({ name, pid }) => [name, pid, threadSeconds(pid)] as const);
  const [ticks, postgres_s, from_us] = [readTicks(), processorSeconds([postmaster]), monotonicMicroseconds()];
  return async (count) => {
    const until_us = monotonicMicroseconds();
    const after = readTicks();
    const perMessage = (seconds: number) => (seconds / count) * 1e6;
    const postgres_us = perMessage(processorSeconds([postmaster]) - postgres_s);
    const threads_us = new Map(
      before.map(([name, pid, used]) => {
        const threads = [...threadSeconds(pid)].map(
          ([thread, seconds]) => [thread, perMessage(seconds - (used.get(thread) ?? 0))] as const,
        );
        return [name, new Map(threads)] as const;
      }),
    );
    const statements = (await costliestStatements(sql, STATEMENTS)).map((cost) => ({
      ...cost,
      us: (cost.total_ms / count) * 1000,
    }));
    const idle_percent = ((after.idle - ticks.idle) / (after.all - ticks.all)) * 100;
    return { idle_percent, postgres_us, threads_us, statements, bounds_us: [from_us, until_us] };
  };
}

/** Returns the microseconds a message by area of a process's main thread, once the process has ended. */
export function areasIn({ bounds_us, threads_us }: Window, { name, profiles }: TracedProcess): Map<string, number> {
  const main_us = threads_us.get(name)?.get(MAIN_THREAD) ?? 0;
  return new Map([...areaShares(profiles, ...bounds_us)].map(([area, share]) => [area, share * main_us]));
}

/**
 * Returns the times of the steps of messages accepted since a time, once the worker has ended. They count from the
 * acceptance or from `start_ms`, if that is later.
 */
export async function stepsIn(
  { sql }: ProductDatabase,
  { steps }: TracedProcess,
  since_ms: number,
  start_ms = 0,
): Promise<StepTime[]> {
  const rows = await sql<{ id: string; at_ms: number }[]>`
    select id, extract(epoch from created_at)::float8 * 1000 as at_ms from messages
    where created_at >= to_timestamp(${since_ms / 1000}::float8)`;
  return stepTimes(readSteps(steps), new Map(rows.map(({ id, at_ms }) => [id, Math.max(start_ms, at_ms)])));
}

function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
