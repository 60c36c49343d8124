import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { proofPages, sentencesOf, testFiles, titlesOf, unproven, withProofs } from './list-proofs.ts';

const files = testFiles();

describe.each(proofPages.map((page) => [page.path.split('/').at(-1), page] as const))('docs/%s', (_, page) => {
  it('has no finding that no title of a test names', () => {
    expect(unproven(page.findings, files)).toEqual([]);
  });

  it('lists the tests as they are; run `npm run docs` to write it again', () => {
    const text = readFileSync(page.path, 'utf8');

    expect(withProofs(text, page.findings, files)).toBe(text);
  });
});

it('every sentence of the interface has a test, and every test with a number its sentence', () => {
  const sentences = proofPages.flatMap(({ path }) => sentencesOf(readFileSync(path, 'utf8')));

  expect(sentences.toSorted((a, b) => a - b)).toEqual([...titlesOf(files).keys()].toSorted((a, b) => a - b));
  expect(sentences.length).toBeGreaterThan(70);
});
