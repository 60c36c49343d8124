import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../process/config.ts';

/** A mail of 3.9 kB of HTML with one recipient and one tag, with its events, attempt, job and indexes. */
export const BYTES_A_MAIL = 6700;

export interface Disk {
  readonly free_bytes: number;
  readonly total_bytes: number;
}

/** The disk of the embedded database; null for another server, or a folder of another machine. */
export async function diskOf(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<Disk | null> {
  if (config.DATABASE_URL !== undefined) return null;
  if (!existsSync(config.DATA_DIR)) return null;
  const { bavail, blocks, bsize } = await statfs(config.DATA_DIR);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}
