import { readdirSync, readFileSync } from 'node:fs';

// Linux counts in hundredths of a second, whatever the clock of its scheduler is.
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly parent: number;
  readonly seconds: number;
}

/** What a process has used of the processors, its ended children included; null once it is gone. */
function readStat(pid: number): ProcessStat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold blanks; what follows it is fields 3 and on of proc(5).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + field, 0);
    return { parent: fields[1] ?? 0, seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

/** Seconds of processor time that these processes and all under them have used so far; 0 where /proc is not Linux's. */
export function processorSeconds(roots: readonly number[]): number {
  const children = new Map<number, number[]>();
  const seconds = new Map<number, number>();
  for (const name of processIds()) {
    const stat = readStat(name);
    if (!stat) continue;
    seconds.set(name, stat.seconds);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), name]);
  }
  const todo = [...roots];
  let sum = 0;
  for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
    sum += seconds.get(pid) ?? 0;
    todo.push(...(children.get(pid) ?? []));
  }
  return sum;
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
