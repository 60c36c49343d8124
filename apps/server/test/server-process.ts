import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = 'apps/server/src/main.ts';
// Shares the compile cache, so that later processes of a test start faster.
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url));
const START_DEADLINE_MS = 90_000;
/** Each process binds free ports and prints them in its banner. The default ports are left for manual runs. */
const FREE_PORTS = { PORT: '0', CAPTURE_PORT: '0', INBOUND_PORT: '0' } as const;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read responses as a client would, without a schema, and assert on the fields they name.
  readonly body: Record<string, unknown>;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LaunchedProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** Returns the parsed log lines. */
  logged(): Record<string, unknown>[];
  /** Sends a signal to this process only. */
  signal(name: NodeJS.Signals): void;
  /** Resolves once standard output matches; rejects if the process exits first. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Closes our end of the process's standard output and standard error. */
  hangUp(): void;
}

export interface ServerProcess extends LaunchedProcess {
  readonly url: string;
  readonly port: number;
  /** Returns the port of a listener from the banner. */
  portOf(listener: 'SMTP capture' | 'Bounces' | 'Metrics'): number;
  /** Sends a request to a path of this process. An object becomes a JSON body; a string is sent unchanged. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  /** Signals the process to stop and waits for it to exit. */
  end(signal?: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): Promise<Exit>;
  kill(): Promise<Exit>;
}

const launched = new Set<ChildProcess>();

/** Reads the secret that a start without a terminal wrote to a file named in its output. */
export function secretIn(stdout: string, name: 'api-key' | 'operator-password' | 'login-link'): string {
  const [file] = new RegExp(`/\\S+/${name}\\b`).exec(stdout) ?? [];
  return file === undefined ? '' : readFileSync(file, 'utf8').trim();
}

/** Starts the server as shipped, from this checkout or another, with exactly this environment and its own ports. */
export function launch(env: Readonly<Record<string, string>>, checkout: string = ROOT): LaunchedProcess {
  const child = spawn(process.execPath, [join(checkout, MAIN)], {
    env: { NODE_COMPILE_CACHE, ...FREE_PORTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  launched.add(child);
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    for (const listener of listeners) listener();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      launched.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    logged: () =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    signal(name) {
      child.kill(name);
    },
    hangUp() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    says(pattern) {
      return new Promise((resolve, reject) => {
        const give = (message: string) => {
          listeners.delete(check);
          clearTimeout(deadline);
          reject(new Error(`${message}; it said:\n${stdout}${stderr}`));
        };
        const check = () => {
          const match = pattern.exec(stdout);
          if (!match) return;
          listeners.delete(check);
          clearTimeout(deadline);
          resolve(match);
        };
        const deadline = setTimeout(() => give(`the server did not say ${pattern}`), START_DEADLINE_MS);
        listeners.add(check);
        void exited.then(({ code, signal }) => give(`the server ended with ${code ?? signal}`));
        check();
      });
    },
  };
}

/** Starts the server and waits until /readyz reports ready. */
export async function startServer(env: Readonly<Record<string, string>>, checkout?: string): Promise<ServerProcess> {
  const server = launch(env, checkout);
  const [, origin = ''] = await server.says(/Postrider is ready at (http:\/\/\S+)/);
  const port = Number(new URL(origin).port);
  const url = `http://127.0.0.1:${port}`;
  const ready = await fetch(`${url}/readyz`);
  if (ready.status !== 200) throw new Error(`/readyz answered ${ready.status}: ${await ready.text()}`);
  const end = (signal: NodeJS.Signals) => {
    server.signal(signal);
    return server.exited;
  };
  return {
    ...server,
    url,
    port,
    portOf(listener) {
      const line = server
        .stdout()
        .split('\n')
        .find((one) => one.trimStart().startsWith(`${listener} `));
      const [, number] = /:(\d+)(?:\/metrics)?$/.exec(line ?? '') ?? [];
      if (number === undefined) throw new Error(`the banner names no port of ${listener}: ${server.stdout()}`);
      return Number(number);
    },
    async call(method, path, { key = env.BOOTSTRAP_API_KEY ?? null, body, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get('content-type')?.startsWith('application/json');
      return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : {} };
    },
    end: (signal = 'SIGTERM') => end(signal),
    kill: () => end('SIGKILL'),
  };
}

/** Kills the processes that a failed test left running. Call it in afterAll. */
export async function killLeftOvers(): Promise<void> {
  const processes = [...launched];
  await Promise.all(
    processes.map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      return closed;
    }),
  );
}
