import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessStat {
  readonly parent: number;
  /** CPU time, including exited children. */
  readonly seconds: number;
}

// USER_HZ: Linux reports hundredths of a second, independent of the scheduler's clock.
const TICKS_PER_SECOND = 100;

/** Returns all processes of this machine; empty without Linux's /proc. */
export function readProcesses(): Map<number, ProcessStat> {
  const processes = new Map<number, ProcessStat>();
  for (const pid of processIds()) {
    const stat = readStat(pid);
    if (stat) processes.set(pid, stat);
  }
  return processes;
}

/** Returns these processes and all their descendants. */
export function treeOf(roots: readonly number[], processes = readProcesses()): number[] {
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of processes) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const tree: number[] = [];
  const todo = [...roots];
  for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
    if (processes.has(pid)) tree.push(pid);
    todo.push(...(children.get(pid) ?? []));
  }
  return tree;
}

export function parentOf(pid: number): number {
  return readStat(pid)?.parent ?? 0;
}

/** Returns the program and its arguments; empty once the process has exited. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function readStat(pid: number): ProcessStat | null {
  const stat = parseStat(`/proc/${pid}/stat`);
  return stat && { parent: stat.fields[1] ?? 0, seconds: stat.own_seconds + stat.child_seconds };
}

export interface Stat {
  readonly name: string;
  /** Fields 3 and up of proc(5). */
  readonly fields: readonly number[];
  readonly own_seconds: number;
  /** The CPU time of exited children. */
  readonly child_seconds: number;
}

/** Reads the stat file of a process or thread; null if it has ended. */
export function parseStat(path: string): Stat | null {
  try {
    const stat = readFileSync(path, 'latin1');
    // The name in parentheses may contain spaces.
    const name_end = stat.lastIndexOf(')');
    const fields = stat
      .slice(name_end + 2)
      .split(' ')
      .map(Number);
    const seconds = (at: number) => ((fields[at] ?? 0) + (fields[at + 1] ?? 0)) / TICKS_PER_SECOND;
    const name = stat.slice(stat.indexOf('(') + 1, name_end);
    return { name, fields, own_seconds: seconds(11), child_seconds: seconds(13) };
  } catch {
    return null;
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
