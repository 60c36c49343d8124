import { resolve } from 'node:path';
import type { Terminal } from './terminal.ts';

/** Resolves a file argument against the caller's directory, because launch.mjs changes this process's directory. */
export function fileOf(terminal: Pick<Terminal, 'env'>, path: string): string {
  return resolve(terminal.env.POSTRIDER_CALLED_FROM ?? '.', path);
}
