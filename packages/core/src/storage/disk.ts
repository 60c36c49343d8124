import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../process/config.ts';

/** A 4 kB message with everything stored for it, including indexes: the measurement is in docs/benchmarks.md. */
export const TYPICAL_MESSAGE_BYTES = 4882;

export interface Disk {
  readonly free_bytes: number;
  readonly total_bytes: number;
}

/** Returns the disk of the embedded database; null for another server or another machine's folder. */
export async function diskOf(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<Disk | null> {
  if (config.DATABASE_URL !== undefined) return null;
  if (!existsSync(config.DATA_DIR)) return null;
  const { bavail, blocks, bsize } = await statfs(config.DATA_DIR);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}
