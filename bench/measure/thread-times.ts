import { readdirSync } from 'node:fs';
import { parseStat } from './process-tree.ts';

export const MAIN_THREAD = 'main thread';

/** Returns the CPU seconds used so far by the threads of a process, by thread name; empty without /proc. */
export function threadSeconds(pid: number): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const id of threadIds(pid)) {
    const stat = parseStat(`/proc/${pid}/task/${id}/stat`);
    if (!stat) continue;
    const name = id === String(pid) ? MAIN_THREAD : stat.name;
    seconds.set(name, (seconds.get(name) ?? 0) + stat.own_seconds);
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
