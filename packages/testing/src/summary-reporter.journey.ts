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
  /** The paths of the slowest files, in the listed order. */
  readonly slowest: readonly string[];
  readonly seconds: readonly number[];
  readonly status: number | null;
}

function run(files: Record<string, string>): Outcome {
  mkdirSync(join(root, 'tests'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'tests', name), text);
  const { stdout, status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--root', root, '--globals', '--maxWorkers=1', '--reporter=default', `--reporter=${reporter}`],
    { encoding: 'utf8', env: { PATH: process.env.PATH, NO_COLOR: '1' } },
  );
  const lines = stdout.trimEnd().split('\n');
  const rows = lines.flatMap((line) => {
    const [, seconds, file] = /^ +([\d.]+) s {2}(.+)$/.exec(line) ?? [];
    return file === undefined ? [] : [{ seconds: Number(seconds), file }];
  });
  return { last: lines.at(-1), slowest: rows.map(({ file }) => file), seconds: rows.map((row) => row.seconds), status };
}

describe('the test run summary', () => {
  it('shows the number of tests', () => {
    const outcome = run({ 'good.test.js': "test('a', () => {}); describe('d', () => { test('b', () => {}); });" });

    expect(outcome).toMatchObject({ last: '2 passed, 0 failed', slowest: ['tests/good.test.js'], status: 0 });
  });

  it('shows the number of failures, files that do not load, throwing hooks and stray errors', () => {
    const outcome = run({
      'bad.test.js': "test('a', () => {}); test('b', () => { throw new Error('b'); });",
      'broken.test.js': "import './absent.js'; test('a', () => {});",
      'hook.test.js': "describe('d', () => { beforeAll(() => { throw new Error('h'); }); test('a', () => {}); });",
      'stray.test.js': "test('a', () => { Promise.reject(new Error('stray')); });",
    });

    expect(outcome).toMatchObject({ last: '2 passed, 4 failed', status: 1 });
  });

  it('reports a failure if there are no tests', () => {
    expect(run({ 'empty.js': '' })).toMatchObject({ last: '0 passed, 1 failed', status: 1 });
  });

  it('lists the ten slowest files, slowest first', () => {
    const pause = (ms: number) => `test('a', () => new Promise((done) => setTimeout(done, ${ms})));`;
    const files = Array.from({ length: 11 }, (_, index) => [`file-${index}.test.js`, "test('a', () => {});"]);

    const { slowest, seconds } = run({
      ...Object.fromEntries(files),
      'slow.test.js': pause(900),
      'slower.test.js': pause(1800),
    });

    expect(slowest).toHaveLength(10);
    expect(slowest).toContain('tests/slower.test.js');
    expect(seconds).toEqual(seconds.toSorted((a, b) => b - a));
    expect(seconds[0]).toBeGreaterThanOrEqual(1.8);
  });
});
