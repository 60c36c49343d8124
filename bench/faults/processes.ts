import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Ledgers, Life } from './ledgers.ts';
import { wallTime } from './wall-time.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = process.execPath;
const READY_POLL_MS = 50;

/** A place for one process of the service, which is filled again whenever that process ends. */
export interface Slot {
  readonly name: string;
  readonly port: number;
  /** kill -9, and a new process in its place at once. */
  kill(): Promise<void>;
  /** Stops and continues it after some time, as a paused machine does. */
  freeze(ms: number): Promise<void>;
  /** SIGTERM, and a new process when it has exited. */
  restart(): Promise<void>;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

export interface SlotOptions {
  readonly checkout?: string;
  readonly name: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  readonly log_folder: string;
}

/** Runs a command of the service to its end. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  checkout = ROOT,
): Promise<void> {
  const child = spawn(NODE, [join(checkout, 'packages/cli/src/main.ts'), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`postrider ${args.join(' ')} ended with ${code}`);
}

/** Starts the shipped program in this slot. */
export function openSlot(ledgers: Ledgers, { checkout = ROOT, name, port, env, log_folder }: SlotOptions): Slot {
  const log: WriteStream = createWriteStream(join(log_folder, `${name}.log`));
  let current: { child: ChildProcess; life: Life } | null = null;
  let closed = false;

  const begin = () => {
    const child = spawn(NODE, [join(checkout, 'apps/server/src/main.ts')], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), LOG_FORMAT: 'json', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    const life: Life = {
      slot: name,
      pid: child.pid ?? 0,
      started_at: wallTime(),
      ready_at: null,
      ended_at: null,
      end: null,
    };
    ledgers.lives.push(life);
    current = { child, life };
    child.once('exit', (code, signal) => {
      life.ended_at = wallTime();
      log.write(`${JSON.stringify({ ended: name, code, signal, planned: life.end })}\n`);
      if (life.end === null) life.end = 'unplanned';
      if (!closed) begin();
    });
    void ready(life);
  };
  const ready = async (life: Life) => {
    while (life.ended_at === null && life.ready_at === null) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
        () => null,
      );
      if (answer?.ok && life.ended_at === null) life.ready_at = wallTime();
      else await pause(READY_POLL_MS);
    }
  };
  const end = async (signal: NodeJS.Signals, planned: Life['end']) => {
    if (!current) return;
    const { child, life } = current;
    if (child.exitCode !== null || child.signalCode !== null) return;
    life.end = planned;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };

  begin();
  return {
    name,
    port,
    kill: () => end('SIGKILL', 'killed'),
    restart: () => end('SIGTERM', 'stopped'),
    async freeze(ms) {
      const frozen = current?.child;
      frozen?.kill('SIGSTOP');
      await pause(ms);
      frozen?.kill('SIGCONT');
    },
    async untilReady() {
      while (current?.life.ready_at === null || current?.life.ended_at !== null) await pause(READY_POLL_MS);
    },
    async stop() {
      closed = true;
      await end('SIGTERM', 'stopped');
      log.end();
    },
  };
}
