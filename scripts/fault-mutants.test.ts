import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { patched, readPatch } from '../bench/faults/patch.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = `${root}bench/faults/mutants/`;

it.each(readdirSync(folder))('the planted bug %s still matches the current code', (name) => {
  const files = readPatch(readFileSync(folder + name, 'utf8'));

  expect(files).not.toHaveLength(0);
  for (const { path, hunks } of files) expect(patched(readFileSync(root + path, 'utf8'), hunks), path).not.toBeNull();
});
