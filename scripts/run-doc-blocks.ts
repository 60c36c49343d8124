// Runs a page's code blocks against a running instance, in a folder of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '@postrider/core';
import { sendSchema } from '@postrider/core/accept';
import { eventSchema } from '@postrider/core/events';
import { createTransport } from 'nodemailer';
import { parseAst } from 'rolldown/parseAst';
import type { Block, Language } from './doc-blocks.ts';
import { linkExample } from './example-packages.ts';
import { compiled, type Instance, root } from './instance.ts';
import { checkCommands } from './run-examples.ts';

const BLOCK_TIMEOUT_MS = 120_000;
const LISTEN_TIMEOUT_MS = 20_000;
const SEND_EVERY_MS = 500;

/** Parsers for blocks that are not programs; each throws if the content would be rejected. */
const drills: Readonly<Record<string, (text: string, instance: Instance) => unknown>> = {
  json: (text) => JSON.parse(text),
  tsx: (text) => parseAst(text, { lang: 'tsx' }),
  /** Every package that a page installs is one of a folder in examples. */
  packages: (text) => {
    const dependencies = globSync('examples/*/package.json', { cwd: root }).flatMap((file) =>
      Object.keys((JSON.parse(readFileSync(join(root, file), 'utf8')) as { dependencies?: object }).dependencies ?? {}),
    );
    const missing = text
      .trim()
      .split(/\s+/)
      .slice(2)
      .filter((name) => name !== './postrider-sdk-1.0.0.tgz' && !dependencies.includes(name));
    if (missing.length > 0) throw new Error(`no example has ${missing.join(', ')}`);
  },
  /** The programs' tests are run as a whole. */
  example: checkCommands,
  event: (text) => eventSchema.parse(JSON.parse(text)),
  send: (text) => sendSchema.parse(JSON.parse(text)),
  /** Reads a program's SMTP settings, and sends an email with them. */
  async smtp(text, { key, settings }) {
    const setting = (names: string) =>
      new RegExp(`(?:${names})["']?\\s*(?:=>|[:=])\\s*["']?([^"',\\s;]+)`, 'i').exec(text)?.[1];
    const host = setting('host|address');
    const port = setting('port');
    if (host !== 'mail.example.com' || port !== '587') throw new Error(`host ${host} and port ${port}`);
    const transport = createTransport({
      host: '127.0.0.1',
      port: Number(settings.SUBMISSION_PORT),
      auth: { user: setting('user(?:_?name)?'), pass: setting('pass(?:word)?')?.replace('pr_live_…', key) },
    });
    await transport.sendMail({ from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'It works.' });
    transport.close();
  },
  env: (text) =>
    readConfig(
      Object.fromEntries(
        text
          .split('\n')
          .filter((line) => /^\w+=/.test(line))
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ),
    ),
  async graphql(query, { url, key }) {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    // An example's cursor is rejected later, once the query itself has passed validation.
    if (text.includes('"invalid_query"')) throw new Error(text);
  },
};

const programs: Readonly<Record<Language, { readonly file: string; readonly command: readonly string[] }>> = {
  sh: { file: 'block.sh', command: ['bash'] },
  ts: { file: 'block.ts', command: [process.execPath] },
  python: { file: 'block.py', command: ['python3'] },
  go: { file: 'block.go', command: ['go', 'run'] },
  php: { file: 'block.php', command: ['php'] },
};

// By default, curl exits with 0 regardless of the status, but a sample that is rejected must fail.
const SHELL_HEAD = `set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@"; }
set -a
[ -f .state ] && . ./.state
`;
const SHELL_TAIL = '\nexport -p | grep -v " \\(SHLVL\\|PWD\\|OLDPWD\\|_\\)=" > .state\n';

export interface Outcome {
  readonly block: Block;
  /** Null if the block succeeded. */
  readonly problem: string | null;
}

interface Place {
  readonly folder: string;
  readonly instance: Instance;
  readonly servers: ChildProcess[];
  printed: string;
  /** Whether commands print text instead of JSON. */
  prints_text: boolean;
}

/**
 * Runs the blocks of one page in order, limited to the given languages. Blocks with the packages of an example run on
 * request only, because these packages are installed then.
 */
export async function runBlocks(
  blocks: readonly Block[],
  instance: Instance,
  languages_run: readonly Language[],
  {
    with_examples = false,
    after,
  }: {
    readonly with_examples?: boolean;
    /** Called after each block with what the last program printed. */
    readonly after?: (block: Block, printed: string) => Promise<void>;
  } = {},
): Promise<Outcome[]> {
  const place: Place = { folder: openFolder(), instance, servers: [], printed: '', prints_text: false };
  const outcomes: Outcome[] = [];
  let ran = false;
  try {
    for (const [index, block] of blocks.entries()) {
      const { marker } = block;
      const runs = languages_run.some((language) => language === block.language);
      if (marker.kind === 'not-run' || marker.kind === 'drill') continue;
      if (marker.kind === 'example') {
        if (!runs || !with_examples) continue;
        const { problem } = await runSample(block.language as Language, block.text, instance, marker.example);
        outcomes.push({ block, problem });
        continue;
      }
      if ((marker.kind === 'run' || marker.kind === 'serve' || marker.kind === 'watch') && !runs) {
        ran = false;
        continue;
      }
      // The output of a block is only known if the block ran.
      if (marker.kind === 'expect' && !ran) continue;
      if (marker.kind === 'run') ran = true;
      // Pages show what a terminal prints, but without one, commands print JSON.
      const { language, marker: following } = blocks[index + 1] ?? {};
      place.prints_text = language === 'text' && following?.kind === 'expect';
      outcomes.push({ block, problem: await problemOf(block, blocks.slice(0, index), place) });
      await after?.(block, place.printed);
    }
  } finally {
    for (const server of place.servers) server.kill();
    rmSync(place.folder, { recursive: true, force: true });
  }
  return outcomes;
}

async function problemOf(block: Block, before: readonly Block[], place: Place): Promise<string | null> {
  const { marker } = block;
  try {
    if (marker.kind === 'config') {
      const drill = drills[marker.drill];
      if (!drill) return `there is no drill ${marker.drill}`;
      await drill(block.text, place.instance);
      return null;
    }
    if (marker.kind === 'expect') {
      return fits(block, place.printed) ? null : `it printed something else:\n${place.printed}`;
    }
    if (marker.kind === 'serve') return await serve(block, marker.port, place);
    if (marker.kind === 'watch') return await watch(block, place);
    return await run(block, before, place);
  } catch (error) {
    return String(error);
  }
}

async function run(block: Block, before: readonly Block[], place: Place): Promise<string | null> {
  const language = block.language as Language;
  const earlier =
    block.marker.kind === 'run' && block.marker.continued
      ? before.filter((one) => one.language === language && one.marker.kind === 'run').map(({ text }) => text)
      : [];
  return runText(language, [...earlier, block.text].join('\n'), place);
}

async function runText(language: Language, source: string, place: Place): Promise<string | null> {
  const { file, command } = programs[language];
  const text = await filledIn(source, place);
  writeFileSync(join(place.folder, file), language === 'sh' ? SHELL_HEAD + text + SHELL_TAIL : text);
  const [program = '', ...args] = [...command, file];
  // Asynchronous, because the name server that the instance asks is in this process.
  const child = spawn(program, args, {
    cwd: place.folder,
    env: environment(place),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // With the programs that it has started, which would otherwise keep its output open.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), BLOCK_TIMEOUT_MS);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  const problem = await new Promise<string | null>((resolve) => {
    child.on('error', (error) => resolve(`${program}: ${error.message}`));
    child.on('close', (code, signal) => resolve(code === 0 ? null : `it ended with ${code ?? signal}:\n${out}${err}`));
  });
  clearTimeout(timer);
  place.printed = out;
  return problem;
}

/** Runs one program in a folder of its own, with the packages of the repository or of an example. */
export async function runSample(
  language: Language,
  text: string,
  instance: Instance,
  example?: string,
): Promise<{ readonly printed: string; readonly problem: string | null }> {
  const place: Place = { folder: openFolder(example), instance, servers: [], printed: '', prints_text: false };
  try {
    const problem = await runText(language, text, place);
    return { printed: place.printed, problem };
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

async function serve(block: Block, port: number, place: Place): Promise<string | null> {
  const { file, command } = programs[block.language as Language];
  const own = `serve-${port}-${file}`;
  writeFileSync(join(place.folder, own), await filledIn(block.text, place));
  const [program = '', ...args] = [...command, own];
  const child = spawn(program, args, {
    cwd: place.folder,
    env: environment(place),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  place.servers.push(child);
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  for (let waited_ms = 0; waited_ms < LISTEN_TIMEOUT_MS; waited_ms += 50) {
    if (child.exitCode !== null) return `it ended with ${child.exitCode}:\n${err}`;
    if (await listens(port)) return null;
    await pause(50);
  }
  return `nothing listens on ${port}`;
}

/** Runs a block that prints events until it is stopped; sends emails until it has printed something. */
async function watch(block: Block, place: Place): Promise<string | null> {
  writeFileSync(join(place.folder, 'watch.sh'), SHELL_HEAD + (await filledIn(block.text, place)));
  const child = spawn('bash', ['watch.sh'], { cwd: place.folder, env: environment(place), detached: true });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
  }
  for (let waited_ms = 0; waited_ms < LISTEN_TIMEOUT_MS; waited_ms += SEND_EVERY_MS) {
    if (child.exitCode !== null) return `it ended with ${child.exitCode}:\n${out}`;
    if (/email\.|whsec_/.test(out)) break;
    await sendOne(place.instance);
    await pause(SEND_EVERY_MS);
  }
  // The block's programs are children of the shell.
  if (child.pid !== undefined) process.kill(-child.pid);
  return /email\.|whsec_/.test(out) ? null : `it printed no event:\n${out}`;
}

async function sendOne({ url, key }: Instance): Promise<void> {
  await fetch(`${url}/v1/email/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'It works.' }),
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function environment({ folder, instance, prints_text }: Place): Record<string, string> {
  return {
    PATH: `${folder}/bin:${process.env.PATH}`,
    HOME: folder,
    ...(prints_text && { OUTPUT: '--output text' }),
    NODE_COMPILE_CACHE: compiled,
    // All blocks share a build cache, because each would otherwise compile the same code again.
    GOCACHE: join(root, 'node_modules/.cache/go'),
    GO111MODULE: 'off',
    POSTRIDER_URL: instance.url,
    POSTRIDER_API_KEY: instance.key,
    DATA_DIR: instance.data_dir,
    WEBHOOK_SECRET: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDOU6xP4KVbjU=',
  };
}

/** Creates an empty folder in which packages resolve as in the repository, and `npx postrider` is the command line. */
function openFolder(example?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-docs-'));
  if (example === undefined) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else linkExample(example, folder);
  // One sample attaches the README, and another copies a client.
  for (const name of ['README.md', 'apps']) symlinkSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  mkdirSync(join(folder, 'bin'));
  const launcher = join(root, 'packages/cli/src/launch.mjs');
  const npx = `#!/bin/sh\n[ "$1" = postrider ] || { echo "npx $1 is not known" >&2; exit 1; }\nshift\nexec '${process.execPath}' '${launcher}' "$@" $OUTPUT\n`;
  writeFileSync(join(folder, 'bin/npx'), npx, { mode: 0o755 });
  return folder;
}

/**
 * Fills in the values that a reader would: the URL, the key, what the previous block printed, and the newest id of its
 * kind for an id that ends in ….
 */
async function filledIn(text: string, { instance: { url, key, settings }, printed }: Place): Promise<string> {
  let filled = text
    .replaceAll('http://localhost:3000', url)
    .replaceAll('port: 2587', `port: ${settings.SUBMISSION_PORT}`)
    .replaceAll('pr_live_…', key)
    .replaceAll('wsp_…', () => /wsp_\w+/.exec(printed)?.[0] ?? 'wsp_…')
    .replaceAll(/<(\w+)>/g, (placeholder, name) => {
      const [, value] = new RegExp(`"${name}": "?([^",]+)`).exec(printed) ?? [];
      return value ?? placeholder;
    });
  for (const [placeholder, path] of [
    ['msg_…', '/email/logs?limit=1'],
    ['whk_…', '/webhooks?limit=1'],
  ] as const) {
    if (!filled.includes(placeholder)) continue;
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/v1${path}`, { headers });
    const { data } = (await response.json()) as { data: { id: string }[] };
    filled = filled.replaceAll(placeholder, data[0]?.id ?? placeholder);
  }
  return filled;
}

/** Returns whether the output matches the page. JSON may have more fields than the page shows. */
function fits({ language, text }: Block, printed: string): boolean {
  if (language === 'json') return holds(JSON.parse(printed), JSON.parse(text));
  return matches(text.trim(), printed.trim());
}

function matches(expected: string, actual: string): boolean {
  const pattern = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('[\\s\\S]*?')}$`).test(actual);
}

function holds(actual: unknown, expected: unknown): boolean {
  if (typeof expected === 'string') return typeof actual === 'string' && matches(expected, actual);
  if (typeof expected !== 'object' || expected === null) return actual === expected;
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return false;
  return Object.entries(expected).every(([name, value]) => holds(Reflect.get(actual, name), value));
}
