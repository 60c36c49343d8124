import { readFileSync } from 'node:fs';

/** A change that takes exactly one check out of the code; the suite must notice. */
export interface Hole {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

// The cast holds because scripts/attack-holes.test.ts reads every field of each. It is JSON because the code has
// templates, which a linter takes for mistakes in a text of TypeScript.
export const holes = JSON.parse(readFileSync(new URL('attack-holes.json', import.meta.url), 'utf8')) as readonly Hole[];
