import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { copyTree } from '../../scripts/copy-tree.ts';
import { patched, readPatch } from './patch.ts';
import { FAILED_IN_CALM } from './reconcile.ts';

// npm run bench:faults:mutants -- [--only NAME] [--seed TEXT]
// Runs the harness against the checkout, which must pass, and against copies with one planted bug each, which must
// fail. A bug that fails requests without any injected fault does not test the harness.

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string' } } });
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = fileURLToPath(new URL('mutants/', import.meta.url));
const seed = values.seed ?? 'mutants';
const print = (line: string) => void process.stdout.write(`${line}\n`);

const mutants = readdirSync(folder)
  .filter((name) => name.endsWith('.patch'))
  .map((name) => basename(name, '.patch'))
  .filter((name) => values.only === undefined || name === values.only);
let wrong = 0;
if (values.only === undefined) {
  const { sound, summary } = await run(root, 'unchanged');
  print(`${sound ? 'ok ' : 'BAD'} unchanged: ${summary}`);
  if (!sound) wrong += 1;
}
for (const name of mutants) {
  const copy = copyTree(root);
  try {
    plant(copy, name);
    const { sound, summary } = await run(copy, name);
    if (sound !== false) wrong += 1;
    print(`${sound === false ? 'ok ' : 'BAD'} ${name}: ${summary}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
print(
  wrong === 0
    ? `all ${mutants.length} bugs were detected`
    : `${wrong} of ${mutants.length + 1} runs did not end as expected`,
);
process.exit(wrong === 0 ? 0 : 1);

function plant(copy: string, name: string): void {
  for (const { path, hunks } of readPatch(readFileSync(join(folder, `${name}.patch`), 'utf8'))) {
    const file = join(copy, path);
    const text = patched(readFileSync(file, 'utf8'), hunks);
    if (text === null) throw new Error(`${name}.patch does not fit ${path}`);
    writeFileSync(file, text);
  }
}

/** Returns whether the harness passes a checkout, and its summary. `sound` is null if the run did not get that far. */
async function run(tree: string, name: string): Promise<{ readonly sound: boolean | null; readonly summary: string }> {
  const json = fileURLToPath(new URL(`../../node_modules/.cache/faults/mutant-${name}.json`, import.meta.url));
  rmSync(json, { force: true });
  const program = fileURLToPath(new URL('run.ts', import.meta.url));
  const args = [program, '--plan', 'mutants', '--seed', seed, '--json', json, '--old-api', tree, '--old-worker', tree];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill());
  await once(child, 'exit');
  if (!existsSync(json)) return { sound: null, summary: 'exited without results' };
  const { sound, seconds, checks } = JSON.parse(readFileSync(json, 'utf8')) as {
    sound: boolean;
    seconds: number;
    checks: { name: string; count: number; holds: boolean }[];
  };
  const failed = checks.filter(({ holds }) => !holds).map((check) => `${check.count} × ${check.name}`);
  if (failed.some((line) => line.endsWith(FAILED_IN_CALM)))
    return { sound: null, summary: `requests failed without a fault: ${failed.join('; ')}` };
  return { sound, summary: `${seconds} s, ${failed.length === 0 ? 'all checks passed' : failed.join('; ')}` };
}
