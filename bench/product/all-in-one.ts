import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@postrider/testing/free-port';
import { commandOf, treeOf } from '../measure/process-tree.ts';
import { THIS_CHECKOUT } from './product.ts';

export interface AllInOne {
  /** From the start of npm until /readyz returned 200. */
  readonly ready_ms: number;
  /** The process id of npm, which stays as the parent. */
  readonly npm: number;
  readonly node: number;
  /** The root process of the embedded Postgres. */
  readonly postmaster: number;
  stop(): Promise<void>;
}

const RETRY_MS = 5;
const LIMIT_MS = 180_000;

/** Runs `npm start` with everything in one process and an embedded Postgres in this folder. */
export async function startAllInOne(data_dir: string, checkout: string = THIS_CHECKOUT): Promise<AllInOne> {
  const [port, capture_port, inbound_port] = [await freePort(), await freePort(), await freePort()];
  const started = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: data_dir,
      PORT: String(port),
      CAPTURE_PORT: String(capture_port),
      INBOUND_PORT: String(inbound_port),
      LOG_LEVEL: 'warn',
      npm_config_loglevel: 'silent',
    },
  });
  await isReady(child, port);
  const ready_ms = performance.now() - started;
  const npm = child.pid ?? 0;
  const node = treeOf([npm]).find((pid) => pid !== npm && /\bscripts\/start\.mjs/.test(commandOf(pid)));
  if (node === undefined) throw new Error('npm start runs, but no process of scripts/start.mjs is under it');
  return {
    ready_ms,
    npm,
    node,
    postmaster: postmasterIn(data_dir),
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function isReady(child: ChildProcess, port: number): Promise<void> {
  const started = performance.now();
  for (;;) {
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status === 200) return;
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
    if (performance.now() - started > LIMIT_MS) {
      child.kill('SIGTERM');
      throw new Error('npm start was not ready in time');
    }
    await delay(RETRY_MS);
  }
}

function postmasterIn(data_dir: string): number {
  const file = readdirSync(data_dir, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith('postmaster.pid'),
  );
  if (file === undefined) throw new Error(`no Postgres runs in ${data_dir}`);
  return Number.parseInt(readFileSync(join(data_dir, file), 'latin1'), 10);
}
