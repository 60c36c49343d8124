import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const reporter = fileURLToPath(new URL('summary-reporter.ts', import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'postrider-reporter-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

interface Outcome {
  readonly last: string | undefined;
  readonly second_tries: readonly string[];
  readonly status: number | null;
}

function run(files: Record<string, string>): Outcome {
  mkdirSync(join(root, 'tests'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'tests', name), text);
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      '--root',
      root,
      '--globals',
      '--maxWorkers=1',
      '--retry=1',
      '--reporter=default',
      `--reporter=${reporter}`,
    ],
    { encoding: 'utf8', env: { PATH: process.env.PATH, NO_COLOR: '1' } },
  );
  const lines = stdout.trimEnd().split('\n');
  const first = lines.findIndex((line) => line.startsWith('needed a second try: '));
  return { last: lines.at(-1), second_tries: first < 0 ? [] : lines.slice(first, -1), status };
}

describe('the last line of a test run', () => {
  it('counts tests', () => {
    const outcome = run({ 'good.test.js': "test('a', () => {}); describe('d', () => { test('b', () => {}); });" });

    expect(outcome).toEqual({ last: '2 passed, 0 failed', second_tries: [], status: 0 });
  });

  it('counts failures, files that do not load, hooks that throw and stray errors', () => {
    const outcome = run({
      'bad.test.js': "test('a', () => {}); test('b', () => { throw new Error('b'); });",
      'broken.test.js': "import './absent.js'; test('a', () => {});",
      'hook.test.js': "describe('d', () => { beforeAll(() => { throw new Error('h'); }); test('a', () => {}); });",
      'stray.test.js': "test('a', () => { Promise.reject(new Error('stray')); });",
    });

    expect(outcome).toEqual({ last: '2 passed, 4 failed', second_tries: [], status: 1 });
  });

  it('fails if there are no tests', () => {
    expect(run({ 'empty.js': '' })).toMatchObject({ last: '0 passed, 1 failed', status: 1 });
  });

  it('follows the tests that passed on a retry, and counts those that never did as failures', () => {
    const outcome = run({
      'shaky.test.js':
        "let tries = 0; describe('d', () => { test('a', () => { expect(tries++).toBe(1); }); test('b', () => {}); });",
      'bad.test.js': "test('c', () => { expect(1).toBe(2); });",
    });

    expect(outcome).toEqual({
      last: '2 passed, 1 failed',
      second_tries: ['needed a second try: tests/shaky.test.js > d > a'],
      status: 1,
    });
  });

  it('is green if a retry passed', () => {
    const outcome = run({ 'shaky.test.js': "let tries = 0; test('a', () => { expect(tries++).toBe(1); });" });

    expect(outcome).toMatchObject({ last: '1 passed, 0 failed', status: 0 });
  });
});
