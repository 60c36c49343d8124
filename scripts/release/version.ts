import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../image/buildah.ts';

/** Returns the version of this checkout. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
