import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { reliabilityPage, testFiles, unproven, withProofs } from './list-proofs.ts';

const files = testFiles();

it('every finding is named by the title of a test', () => {
  expect(unproven(files)).toEqual([]);
});

it('docs/reliability.md lists the tests as they are; run `npm run docs` to write it again', () => {
  const page = readFileSync(reliabilityPage, 'utf8');

  expect(withProofs(page, files)).toBe(page);
});
