import { resolve } from 'node:path';
import type { Terminal } from './terminal.ts';

/** A file that the caller named, who may be in another folder than this process, which launch.mjs moves. */
export function fileOf(terminal: Pick<Terminal, 'env'>, path: string): string {
  return resolve(terminal.env.POSTRIDER_CALLED_FROM ?? '.', path);
}
