import { readFileSync } from 'node:fs';

export interface ProcessorTicks {
  readonly all: number;
  readonly stolen: number;
  /** Includes waiting for the disk. */
  readonly idle: number;
}

// Fields of the `cpu` line in proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guest time is already
// part of user.
const FIELD_COUNT = 8;

/** Returns the CPU times so far; null without /proc. */
export function readTicks(): ProcessorTicks {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
    const ticks = line
      .trim()
      .split(/\s+/)
      .slice(1, FIELD_COUNT + 1)
      .map(Number);
    return {
      all: ticks.reduce((sum, count) => sum + count, 0),
      stolen: ticks[FIELD_COUNT - 1] ?? 0,
      idle: (ticks[3] ?? 0) + (ticks[4] ?? 0),
    };
  } catch {
    return { all: 0, stolen: 0, idle: 0 };
  }
}

/** Returns the percentage of CPU time between two readings that the hypervisor gave to other guests. */
export function stealPercent(before: ProcessorTicks, after: ProcessorTicks): number {
  const all = after.all - before.all;
  return all <= 0 ? 0 : ((after.stolen - before.stolen) / all) * 100;
}
