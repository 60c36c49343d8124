import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '../bench/faults/random.ts';
import { copyTree } from './copy-tree.ts';

// npm run test:browser:words -- [--count 10] [--seed TEXT] [paths of tests] Changes strings of the dashboard in a copy
// of the repository and runs the browser tests there. The tests must still pass, because they take the words they look
// for from the page's strings.

const { values, positionals } = parseArgs({
  options: { count: { type: 'string', default: '10' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const root = fileURLToPath(new URL('../', import.meta.url));
const seed = values.seed ?? randomBytes(4).toString('hex');
const print = (line: string) => void process.stdout.write(`${line}\n`);

// A whole sentence or word in quotes; templates and types are left alone.
const STRING = /'([A-Z][^'\\\n]{2,})'(?=[,\]\s}])/g;
const CHANGE = ' ~';

interface Place {
  readonly file: string;
  readonly text: string;
  readonly index: number;
}

const copy = copyTree(root, [
  'vitest.config.ts',
  'vitest.browser.config.ts',
  'tsconfig.json',
  'tsconfig.base.json',
  'package-lock.json',
  'turbo.json',
  'docs',
  'scripts',
]);
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const sample = draw(stringsOf(copy), Number(values.count));
print(`seed ${seed}: ${sample.length} strings changed`);
// From the end of a file, so that earlier indexes stay valid.
for (const { file, text, index } of sample.toSorted((one, other) => other.index - one.index)) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, `${source.slice(0, index + text.length)}${CHANGE}${source.slice(index + text.length)}`);
  print(`  ${file}: ${text}${CHANGE}`);
}
const args = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--config',
  'vitest.browser.config.ts',
  ...positionals,
];
const child = spawn(process.execPath, args, { cwd: copy, stdio: 'inherit' });
process.once('exit', () => child.kill());
const [code] = await once(child, 'exit');
process.exitCode = code === 0 ? 0 : 1;

function stringsOf(tree: string): Place[] {
  return globSync('apps/dashboard/src/**/strings.ts', { cwd: tree })
    .toSorted()
    .flatMap((file) =>
      [...readFileSync(join(tree, file), 'utf8').matchAll(STRING)].map(({ 1: text = '', index }) => ({
        file,
        text,
        index: index + 1,
      })),
    );
}

function draw(places: readonly Place[], count: number): Place[] {
  const random = createRandom(seed);
  return places
    .map((place) => ({ place, order: random.next() }))
    .toSorted((one, other) => one.order - other.order)
    .slice(0, count)
    .map(({ place }) => place);
}
