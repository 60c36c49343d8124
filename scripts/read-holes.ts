import { readFileSync } from 'node:fs';

/** A change that removes exactly one check from the code; the suite must notice. */
export interface Hole {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

// The cast is safe because scripts/attack-holes.test.ts reads every field of each entry. The file is JSON because the
// code contains templates, which a linter reports as mistakes in a TypeScript string.
export const holes = JSON.parse(readFileSync(new URL('attack-holes.json', import.meta.url), 'utf8')) as readonly Hole[];
