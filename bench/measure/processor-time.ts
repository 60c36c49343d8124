import { readProcesses, treeOf } from './process-tree.ts';

/** Returns the CPU seconds used so far by these processes and their descendants; 0 without /proc. */
export function processorSeconds(roots: readonly number[]): number {
  const processes = readProcesses();
  return treeOf(roots, processes).reduce((sum, pid) => sum + (processes.get(pid)?.seconds ?? 0), 0);
}
