import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SHIPPED_ENV, SHIPPED_FLAGS } from '../product/shipped.ts';
import type { Ledgers, Life } from './ledgers.ts';
import { wallTime } from './wall-time.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = process.execPath;
const READY_POLL_MS = 50;
const MEMORY_POLL_MS = 1000;
/** A process that exits this many times before it is ready will never become ready. */
const MAX_FALSE_STARTS = 3;

// A failed run must leave no process behind.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A slot for one process of the service, which is restarted whenever it exits. */
export interface Slot {
  readonly name: string;
  readonly port: number;
  /** Kills the process with kill -9 and immediately starts a new one. */
  kill(): Promise<void>;
  /** Stops the process and resumes it later, like a paused machine. */
  freeze(work: Promise<unknown>): Promise<void>;
  /**
   * Sends SIGTERM and starts a new process once the old one has exited. The new process and its successors also get
   * these variables.
   */
  restart(extra?: Readonly<Record<string, string>>): Promise<void>;
  untilReady(): Promise<void>;
  /** Returns the ledger entry of the current process. */
  life(): Life;
  /** Returns the value of an unlabeled metric of the process; null if the process does not expose it. */
  gauge(name: string): Promise<number | null>;
  stop(): Promise<void>;
}

export interface SlotOptions {
  readonly checkout?: string;
  readonly name: string;
  readonly port: number;
  readonly metrics_port: number | null;
  readonly env: Readonly<Record<string, string>>;
  readonly log_folder: string;
}

/** Runs a command of the service to completion, and returns its output. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  checkout = ROOT,
): Promise<string> {
  const child = spawn(NODE, [join(checkout, 'packages/cli/src/main.ts'), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`postrider ${args.join(' ')} ended with ${code}`);
  return out;
}

/** Starts the shipped program in this slot. */
export function openSlot(ledgers: Ledgers, options: SlotOptions): Slot {
  const { checkout = ROOT, name, port, metrics_port, env, log_folder } = options;
  const log_file = join(log_folder, `${name}.log`);
  const log: WriteStream = createWriteStream(log_file);
  let current: { readonly child: ChildProcess; readonly life: Life };
  let settings = env;
  let closed = false;
  let false_starts = 0;

  const begin = () => {
    const child = spawn(NODE, [...SHIPPED_FLAGS, join(checkout, 'apps/server/src/main.ts')], {
      env: {
        PATH: process.env.PATH,
        ...SHIPPED_ENV,
        // Set as in the image and the systemd units: the cache saves a third of the startup time.
        NODE_COMPILE_CACHE: join(checkout, 'node_modules/.cache/compiled'),
        PORT: String(port),
        LOG_FORMAT: 'json',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    const life = newLife(name, child.pid ?? 0);
    ledgers.lives.push(life);
    child.once('exit', (code, signal) => {
      running.delete(child);
      life.ended_at = wallTime();
      log.write(`${JSON.stringify({ ended: name, code, signal, planned: life.end })}\n`);
      if (life.end === null) life.end = 'unplanned';
      false_starts = life.ready_at === null && life.end === 'unplanned' ? false_starts + 1 : 0;
      if (!closed && false_starts < MAX_FALSE_STARTS) current = begin();
    });
    void untilItAnswers(life, port);
    void watchMemory(life);
    return { child, life };
  };
  const end = async (signal: NodeJS.Signals, planned: Life['end']) => {
    const { child, life } = current;
    if (child.exitCode !== null || child.signalCode !== null) return;
    life.end = planned;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };

  current = begin();
  return {
    name,
    port,
    kill: () => end('SIGKILL', 'killed'),
    async restart(extra) {
      settings = { ...settings, ...extra };
      await end('SIGTERM', 'stopped');
    },
    async freeze(work) {
      const frozen = current.child;
      frozen.kill('SIGSTOP');
      await work;
      frozen.kill('SIGCONT');
    },
    async untilReady() {
      while (current.life.ready_at === null || current.life.ended_at !== null) {
        if (false_starts >= MAX_FALSE_STARTS)
          throw new Error(`${name} does not start; its log ends with:\n${readFileSync(log_file, 'utf8').slice(-2000)}`);
        await pause(READY_POLL_MS);
      }
    },
    life: () => current.life,
    async gauge(metric) {
      if (metrics_port === null) return null;
      const page = await fetch(`http://127.0.0.1:${metrics_port}/metrics`, { signal: AbortSignal.timeout(2000) })
        .then((response) => response.text())
        .catch(() => '');
      const value = new RegExp(`^${metric}(?:\\{[^}]*\\})? ([0-9.]+)`, 'm').exec(page)?.[1];
      return value === undefined ? null : Number(value);
    },
    async stop() {
      closed = true;
      await end('SIGTERM', 'stopped');
      log.end();
    },
  };
}

function newLife(slot: string, pid: number): Life {
  return { slot, pid, started_at: wallTime(), ready_at: null, ended_at: null, end: null, max_memory_mb: 0 };
}

async function untilItAnswers(life: Life, port: number): Promise<void> {
  while (life.ended_at === null && life.ready_at === null) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
      () => null,
    );
    if (response?.ok && life.ended_at === null) life.ready_at = wallTime();
    else await pause(READY_POLL_MS);
  }
}

/** Records the peak resident memory of a process once it is ready. Works only on Linux; elsewhere the value stays 0. */
async function watchMemory(life: Life): Promise<void> {
  while (life.ended_at === null) {
    try {
      const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${life.pid}/status`, 'utf8'))?.[1];
      if (kb !== undefined && life.ready_at !== null)
        life.max_memory_mb = Math.max(life.max_memory_mb, Math.round(Number(kb) / 1024));
    } catch {
      return;
    }
    await pause(MEMORY_POLL_MS, undefined, { ref: false });
  }
}
