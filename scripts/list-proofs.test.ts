import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  findingsPage,
  sentencesOf,
  sentencesPage,
  strayIds,
  testFiles,
  titlesOf,
  unproven,
  withFindings,
  withTitles,
} from './list-proofs.ts';

const files = testFiles();

describe('docs/reliability.md', () => {
  it('has a test title for every finding', () => {
    expect(unproven(files)).toEqual([]);
  });

  it('lists every finding that appears in a test title', () => {
    expect(strayIds(files)).toEqual([]);
  });

  it('lists the current tests (regenerate it with `npm run docs`)', () => {
    const text = readFileSync(findingsPage, 'utf8');

    expect(withFindings(text, files)).toBe(text);
  });
});

describe('docs/interface.md', () => {
  const text = readFileSync(sentencesPage, 'utf8');

  it('lists the current tests (regenerate it with `npm run docs`)', () => {
    expect(withTitles(text, titlesOf(files))).toBe(text);
  });

  it('has a test for every sentence, and a sentence for every numbered test', () => {
    const sentences = sentencesOf(text);

    expect(sentences.toSorted((a, b) => a - b)).toEqual([...titlesOf(files).keys()].toSorted((a, b) => a - b));
    expect(sentences.length).toBeGreaterThan(70);
  });
});
