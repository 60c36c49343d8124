import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from './table.ts';

/** The contents of a run's result file: every figure of every round. */
export interface Result {
  readonly started_at: string;
  readonly commit: string;
  readonly node: string;
  readonly platform: string;
  readonly processors: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly suites: readonly SuiteResult[];
}

export interface SuiteResult {
  readonly suite: string;
  readonly title: string;
  /** Figures by name, one per round; a ratio is named after its line. */
  readonly series: Readonly<Record<string, readonly number[]>>;
  readonly steal_percent: readonly number[];
  readonly dropped_rounds: number;
  readonly disturbed_rounds: number;
}

const FOLDER = fileURLToPath(new URL('../results/', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export function newResult(options: Readonly<Record<string, unknown>>): Result {
  return {
    started_at: new Date(Math.floor(performance.timeOrigin + performance.now())).toISOString(),
    commit: commitOf(ROOT),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processors: availableParallelism(),
    options,
    suites: [],
  };
}

export function suiteResult(suite: string, { title, lines, rounds, figures = {} }: Report): SuiteResult {
  const ratios = lines
    .filter((line) => line.ratios.length > 0)
    .map((line) => [`× ${line.id} ${line.what}`, line.ratios] as const);
  return {
    suite,
    title,
    series: Object.fromEntries([
      ...(rounds?.series ?? []),
      ...Object.entries(figures).map(([name, value]) => [name, [value]] as const),
      ...ratios,
    ]),
    steal_percent: rounds?.steal_percent ?? [],
    dropped_rounds: rounds?.dropped ?? 0,
    disturbed_rounds: rounds?.disturbed ?? 0,
  };
}

/**
 * Writes the result to a file named after its start time, replacing the file of an earlier suite of this run; returns
 * the path.
 */
export function writeResult(result: Result): string {
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${result.started_at.replace(/[:.]/g, '-')}.json`);
  writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`);
  return path;
}

/** Reads a result file; null stands for a value that is not a number. */
export function readResult(path: string): Result {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isResult(parsed)) throw new Error(`${path} is no result of this benchmark`);
  return parsed;
}

function isResult(value: unknown): value is Result {
  if (typeof value !== 'object' || value === null) return false;
  if (!('suites' in value) || !Array.isArray(value.suites)) return false;
  return value.suites.every(
    (suite: unknown) =>
      typeof suite === 'object' &&
      suite !== null &&
      'suite' in suite &&
      'series' in suite &&
      typeof suite.series === 'object' &&
      suite.series !== null &&
      Object.values(suite.series).every(Array.isArray),
  );
}

export function commitOf(folder: string): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
}
