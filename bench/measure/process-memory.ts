import { readFileSync } from 'node:fs';

const KB_PER_MB = 1024;

/** Returns the memory of these processes in MB, with shared pages counted once. */
export function residentMegabytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readField(`/proc/${pid}/smaps_rollup`, 'Pss'), 0);
}

/** Returns the peak memory of a process since its start, in MB. */
export function peakMegabytes(pid: number): number {
  return readField(`/proc/${pid}/status`, 'VmHWM');
}

function readField(file: string, name: string): number {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'latin1')) ?? [];
  if (kilobytes === undefined) throw new Error(`${file} has no ${name}`);
  return Number(kilobytes) / KB_PER_MB;
}
