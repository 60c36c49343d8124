import { setTimeout as delay } from 'node:timers/promises';
import type { SinkProcess } from '../receivers/sink-process.ts';
import { processorSeconds } from './processor-time.ts';
import type { Keep, Rounds } from './rounds.ts';
import { median } from './statistics.ts';

/** Messages per second at the receiver, and CPU time per message, excluding the load generator and the receiver. */
export interface Flow {
  readonly rate: number;
  readonly cpu_us: number;
  /** CPU time by process, in the given order. */
  readonly shares_us: readonly number[];
}

/** At full load, a process's time per email or webhook falls for about eight seconds, however long it is measured. */
export const WARM_SECONDS = 8;
export const ARRIVAL_LIMIT_MS = 120_000;

export const rateOf = (name: string) => `${name}, /s`;
export const costOf = (name: string) => `${name}, µs per email`;

export function keepFlow(keep: Keep, name: string, { rate, cpu_us, shares_us }: Flow): void {
  keep(rateOf(name), rate);
  keep(costOf(name), cpu_us);
  for (const [index, share] of shares_us.entries()) keep(`${costOf(name)}, part ${index + 1}`, share);
}

/** Formats rate, CPU time and its shares as one text. */
export function flowText(rounds: Rounds, name: string): string {
  const rates = rounds.values(rateOf(name));
  if (rates.length === 0) return 'not measured';
  const parts: string[] = [];
  for (let index = 1; rounds.series.has(`${costOf(name)}, part ${index}`); index++) {
    parts.push(median(rounds.values(`${costOf(name)}, part ${index}`)).toFixed(0));
  }
  const cost = median(rounds.values(costOf(name))).toFixed(0);
  return `${median(rates).toFixed(0)}/s  ${cost} µs (${parts.join(' + ')})`;
}

/** Measures from before the feed starts until the receiver has every message of the feed. */
export async function measureFlow(
  sink: SinkProcess,
  pids: readonly number[],
  feed: () => Promise<number>,
): Promise<Flow> {
  const used = pids.map((pid) => processorSeconds([pid]));
  const before = sink.count();
  const started = performance.now();
  const count = await feed();
  await arrival(sink, before + count);
  const elapsed_ms = performance.now() - started;
  const shares_us = pids.map((pid, index) => ((processorSeconds([pid]) - (used[index] ?? 0)) / count) * 1e6);
  return { rate: (count / elapsed_ms) * 1000, cpu_us: shares_us.reduce((sum, share) => sum + share, 0), shares_us };
}

/** Waits until the receiver has this many messages; returns its count. */
export async function arrival(sink: Pick<SinkProcess, 'count'>, count: number): Promise<number> {
  const started = performance.now();
  while (sink.count() < count) {
    if (performance.now() - started > ARRIVAL_LIMIT_MS) throw new Error(`${sink.count()} of ${count} messages arrived`);
    await delay(2);
  }
  return sink.count();
}

export async function stopAll(all: readonly { stop(): Promise<void> }[]): Promise<void> {
  for (const each of all) await each.stop();
}
