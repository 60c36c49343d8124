import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type DnsZone, startDnsZone } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { expect } from 'vitest';
import { runCommand } from '../src/run-command.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SERVER = join(ROOT, 'apps/server/src/main.ts');
const LAUNCHER = join(ROOT, 'packages/cli/src/launch.mjs');
// Lets later processes of a test reuse the code that the first one compiled.
const NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compiled');

export type Environment = Readonly<Record<string, string>>;

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliFixture {
  readonly url: string;
  /** The key with every scope. */
  readonly key: string;
  /** Scratch space, and the data directory if the database is embedded. */
  readonly directory: string;
  /** The name server used by the server. */
  readonly zone: DnsZone;
  /** Returns the environment of every command, with these variables added or replaced. */
  environment(env?: Environment): Environment;
  /** Runs a command in this process, which saves the second a new process takes to start. */
  postrider(args: readonly string[], env?: Environment): Promise<Outcome>;
  /** Runs a command in its own process, with text output as on a terminal. */
  launch(args: readonly string[], env?: Environment): Promise<Outcome>;
  /** Sends an email from the sandbox domain. */
  send(...rest: string[]): Promise<Outcome>;
}

/**
 * Starts a server for this test file and returns the command line for it: `const { postrider } = await
 * openCommandLine()`.
 */
export async function openCommandLine({ embedded = false } = {}): Promise<CliFixture> {
  const directory = await emptyDirectory();
  const zone = await startDnsZone();
  const database = embedded ? null : await createDatabase();
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const machine = database
    ? { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('hex') }
    : { DATA_DIR: directory };
  const server = spawnProgram(SERVER, [], {
    ...machine,
    ...(database && { BOOTSTRAP_API_KEY: secret, DELIVERY: 'capture', DATA_DIR: directory }),
    DNS_SERVERS: zone.address,
    PORT: '0',
    CAPTURE_PORT: '0',
    INBOUND_PORT: '0',
  });
  const exit = outcomeOf(server);
  endAfterTests({
    async stop() {
      server.kill('SIGTERM');
      const { code, err } = await exit;
      await zone.stop();
      await database?.drop();
      await rm(directory, { recursive: true, force: true });
      expect(code, err).toBe(0);
    },
  });
  const banner = await watch(server)('Press Ctrl-C to stop');
  const url = /ready at (\S+)/.exec(banner)?.[1] ?? '';
  const key_file = /API key +in (\S+)/.exec(banner)?.[1] ?? '';
  const key = database ? secret : (await readFile(key_file, 'utf8')).trim();

  const environment = (env: Environment = {}) => ({
    POSTRIDER_URL: url,
    POSTRIDER_API_KEY: key,
    HOME: directory,
    ...machine,
    ...env,
  });
  const postrider: CliFixture['postrider'] = (args, env) => run(args, environment(env));
  return {
    url,
    key,
    directory,
    zone,
    environment,
    postrider,
    launch: (args, env) => outcomeOf(spawnCommand([...args, '--output', 'text'], environment(env))),
    send: (...rest) =>
      postrider(['send', '--from', 'hello@sandbox.test', '--subject', 'Hello', '--text', 'Hi', ...rest]),
  };
}

/** Runs a command in this process. */
export async function run(args: readonly string[], env: Environment): Promise<Outcome> {
  let [out, err] = ['', ''];
  const code = await runCommand(args, {
    env,
    print: (text) => {
      out += `${text}\n`;
    },
    note: (text) => {
      err += `${text}\n`;
    },
  });
  return { code, out, err };
}

/** Starts a command with only this environment, so that no setting of the machine affects a test. */
export function spawnCommand(args: readonly string[], env: Environment): ChildProcessWithoutNullStreams {
  return spawnProgram(LAUNCHER, args, env);
}

function spawnProgram(program: string, args: readonly string[], env: Environment): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [program, ...args], { cwd: ROOT, env: { NODE_COMPILE_CACHE, ...env } });
}

/** Resolves once the output contains the text; rejects if the program exits first. */
export function watch(child: ChildProcessWithoutNullStreams): (text: string) => Promise<string> {
  let out = '';
  let open = true;
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
    notify();
  });
  child.on('close', () => {
    open = false;
    notify();
  });
  return (text) =>
    new Promise((resolve, reject) => {
      const check = () => {
        if (out.includes(text)) resolve(out);
        else if (!open) reject(new Error(`it ended without printing ${text}: ${out}`));
        else return;
        listeners.delete(check);
      };
      listeners.add(check);
      check();
    });
}

export function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  return new Promise((resolve) => {
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk;
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** Creates an empty directory that Postgres can reach even if it runs as another user. */
export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postrider-cli-'));
  await chmod(directory, 0o711);
  return directory;
}
