import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const builtFolder = join(root, 'dist');
/** The build file that stores the hash of its sources. */
export const HASH_FILE = 'sources.txt';

const SOURCES = ['src', 'build', 'index.html', 'package.json', 'vite.config.ts', '../../package-lock.json'];

/** Hashes all inputs of a build. */
export function hashSources(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const path of filesOf(source))
      hash
        .update(path)
        .update('\0')
        .update(readFileSync(join(root, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

function filesOf(path: string): string[] {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesOf(`${path}/${entry.name}`) : [`${path}/${entry.name}`]))
    .sort();
}
