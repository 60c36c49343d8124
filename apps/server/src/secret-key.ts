import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '@postrider/core';

/** Returns the root key: from the environment, or generated once and stored next to the embedded database. */
export async function loadSecretKey(config: Config): Promise<string> {
  if (config.SECRET_KEY) return config.SECRET_KEY;
  await mkdir(config.DATA_DIR, { recursive: true });
  const file = join(config.DATA_DIR, 'secret-key');
  try {
    await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(file, 'utf8')).trim();
}
