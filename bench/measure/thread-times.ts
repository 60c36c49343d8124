import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
export const MAIN_THREAD = 'main thread';

/** Returns the CPU seconds used so far by the threads of a process, by thread name; empty without /proc. */
export function threadSeconds(pid: number): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const id of threadIds(pid)) {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1');
      const name = id === String(pid) ? MAIN_THREAD : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      // utime and stime of proc(5).
      const ticks = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      seconds.set(name, (seconds.get(name) ?? 0) + ticks.reduce((sum, count) => sum + count, 0) / TICKS_PER_SECOND);
    } catch {
      // The thread has ended.
    }
  }
  return seconds;
}

function threadIds(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
