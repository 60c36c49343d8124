import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSource, type SourceText } from '../source-text.ts';

export interface TreeFile {
  /** The path relative to the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Checks the whole tree and returns `file:line complaint` for every violation. */
export type HouseRule = (files: readonly TreeFile[]) => string[];

const notOurs = new Set(['node_modules', '.git', '.postrider', '.turbo', '.next', 'dist', 'coverage']);
const isText = (name: string) => !/\.(?:png|jpe?g|gif|ico|webp|avif|woff2?|ttf|gz|zip|pdf|tsbuildinfo)$/.test(name);

export const treeRoot = fileURLToPath(new URL('../../../..', import.meta.url));

export function readTree(folder = ''): TreeFile[] {
  return readdirSync(join(treeRoot, folder), { withFileTypes: true }).flatMap((entry): TreeFile[] => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (notOurs.has(entry.name)) return [];
    if (entry.isDirectory()) return readTree(path);
    return entry.isFile() && isText(entry.name) ? [{ path, text: readFileSync(join(treeRoot, path), 'utf8') }] : [];
  });
}

export const isCode = (path: string) => /\.(?:ts|tsx|mts|js|jsx|mjs|cjs)$/.test(path);
export const isTest = (path: string) => /\.(?:test|journey)\.tsx?$/.test(path) || /(?:^|\/)test\//.test(path);

const sources = new WeakMap<TreeFile, SourceText>();
export function sourceOf(file: TreeFile): SourceText {
  const known = sources.get(file);
  if (known) return known;
  const read = readSource(file.text);
  sources.set(file, read);
  return read;
}

export function at(file: TreeFile, index: number, complaint: string): string {
  return `${file.path}:${file.text.slice(0, index).split('\n').length} ${complaint}`;
}

export function findAll(file: TreeFile, text: string, pattern: RegExp, complaint: string): string[] {
  return [...text.matchAll(pattern)].map((match) => at(file, match.index, `${match[0].trim()}: ${complaint}`));
}

/** Creates a rule that searches one view of every covered code file for a pattern. */
export function inSource(
  covers: (path: string) => boolean,
  view: keyof SourceText,
  pattern: RegExp,
  complaint: string,
): HouseRule {
  return (files) =>
    files
      .filter((file) => isCode(file.path) && covers(file.path))
      .flatMap((file) => findAll(file, sourceOf(file)[view], pattern, complaint));
}

export const both =
  (...rules: readonly HouseRule[]): HouseRule =>
  (files) =>
    rules.flatMap((rule) => rule(files));
