import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { holes } from './read-holes.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

it('the list has at least 20 holes, each with a unique name', () => {
  expect(holes.length).toBeGreaterThanOrEqual(20);
  expect(new Set(holes.map(({ name }) => name)).size).toBe(holes.length);
});

it.each(holes.map((hole) => [hole.name, hole] as const))(
  'the hole "%s" matches exactly one place in the code',
  (_, hole) => {
    expect(readFileSync(root + hole.file, 'utf8').split(hole.find)).toHaveLength(2);
    expect(hole.replace).not.toBe(hole.find);
  },
);
