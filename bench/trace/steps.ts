import { readFileSync } from 'node:fs';
import { type DeliveryStep, deliverySteps } from '@postrider/core/delivery';
import { ascending, percentile } from '../measure/statistics.ts';

/** A message, a step and when it was reached, in milliseconds of Unix time. */
export type TracedStep = readonly [message_id: string, step: DeliveryStep, at_ms: number];

export interface StepTime {
  readonly step: string;
  /** Since the step before, which is the acceptance for the first. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Since the acceptance. */
  readonly total_p50_ms: number;
  readonly total_p99_ms: number;
}

export function readSteps(file: string): TracedStep[] {
  // The cast is safe because the probe wrote the file.
  return JSON.parse(readFileSync(file, 'utf8')) as TracedStep[];
}

/** Returns the time of each step over the messages that reached all of them. */
export function stepTimes(steps: readonly TracedStep[], accepted_at: ReadonlyMap<string, number>): StepTime[] {
  const timelines = [...Map.groupBy(steps, ([message_id]) => message_id)].flatMap(([message_id, reached]) => {
    const start = accepted_at.get(message_id);
    const times = new Map(reached.map(([, step, at_ms]) => [step, at_ms]));
    if (start === undefined || deliverySteps.some((step) => !times.has(step))) return [];
    return [[start, ...deliverySteps.map((step) => times.get(step) ?? 0)]];
  });
  if (timelines.length === 0) return [];
  return deliverySteps.map((step, index) => {
    const since = (from: number) => ascending(timelines.map((times) => (times[index + 1] ?? 0) - (times[from] ?? 0)));
    const [one, all] = [since(index), since(0)];
    return {
      step,
      p50_ms: percentile(one, 50),
      p99_ms: percentile(one, 99),
      total_p50_ms: percentile(all, 50),
      total_p99_ms: percentile(all, 99),
    };
  });
}
