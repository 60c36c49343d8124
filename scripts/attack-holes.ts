import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '../bench/faults/random.ts';
import { copyTree } from './copy-tree.ts';
import { holes } from './read-holes.ts';

// npm run test:attack:holes -- [--without COUNT] [--seed TEXT] [--only PATTERN] Removes checks from a copy of the
// repository, one at a time, and runs the attacks on the copy each time. At least one attack must then succeed.

const { values } = parseArgs({
  options: { without: { type: 'string', default: '3' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const root = fileURLToPath(new URL('../', import.meta.url));
const seed = values.seed ?? randomBytes(4).toString('hex');
const print = (line: string) => void process.stdout.write(`${line}\n`);

const { only: only_name } = values;
const drawn_holes =
  only_name === undefined ? draw(Number(values.without)) : holes.filter(({ name }) => new RegExp(only_name).test(name));
print(`seed ${seed}: ${drawn_holes.length} of ${holes.length} holes`);
const copy = copyTree(root, ['vitest.config.ts', 'vitest.attack.config.ts']);
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
let unnoticed = 0;
for (const { name, file, find, replace } of drawn_holes) {
  const path = join(copy, file);
  const sound = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  );
  const failure = await firstSuccess();
  writeFileSync(path, sound);
  if (failure === null) unnoticed += 1;
  print(`${failure === null ? 'BAD' : 'ok '} ${name}: ${failure ?? 'no attack got anywhere'}`);
}
print(
  unnoticed === 0
    ? 'the attacks noticed every hole'
    : `the attacks did not notice ${unnoticed} of ${drawn_holes.length}`,
);
process.exitCode = unnoticed === 0 && drawn_holes.length > 0 ? 0 : 1;

function draw(count: number) {
  const random = createRandom(seed);
  return holes
    .map((hole) => ({ hole, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ hole }) => hole);
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { status: string; title: string; failureMessages: readonly string[] }[];
  }[];
}

/** Returns the first attack on the copy that succeeded, or null if no attack succeeded or the suite did not run. */
async function firstSuccess(): Promise<string | null> {
  const json = join(copy, 'attack.json');
  rmSync(json, { force: true });
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [
    'run',
    '--config',
    'vitest.attack.config.ts',
    '--bail',
    '1',
    '--reporter',
    'json',
    '--outputFile',
    json,
  ];
  const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => child.kill();
  process.once('exit', stop);
  await once(child, 'exit');
  process.off('exit', stop);
  if (!existsSync(json)) return null;
  const { numPassedTests, testResults } = JSON.parse(readFileSync(json, 'utf8')) as Report;
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  if (!failed || numPassedTests === 0) return null;
  const reason = failed.failureMessages[0]?.split('\n')[0] ?? '';
  // A missing check lets an attack through; code that no longer works does not count.
  return reason.includes('internal_error') ? null : `${failed.title} (${reason})`;
}
