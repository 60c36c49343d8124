import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@postrider/testing/free-port';
import { findProgram } from '../peers/postfix.ts';
import { startSink } from './sink.ts';

export interface SinkProcess {
  readonly port: number;
  readonly pid: number;
  readonly method: string;
  /** Messages accepted so far, as of a few milliseconds ago. */
  count(): number;
  stop(): Promise<void>;
}

const REPORT_MS = 5;

/**
 * Starts a receiver in its own process, the same for every peer: Postfix's smtp-sink if it is installed, otherwise our
 * own.
 */
export async function startSinkProcess(): Promise<SinkProcess> {
  const program = findProgram('smtp-sink');
  return program ? startSmtpSink(program) : startOwnSink();
}

async function startSmtpSink(program: string): Promise<SinkProcess> {
  const port = await freePort();
  // smtp-sink prints its count to standard output, and has to drop root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, ['-c', ...user, `127.0.0.1:${port}`, '1000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let count = 0;
  let tail = '';
  child.stdout.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('latin1')).slice(-200);
    count = Number([...tail.matchAll(/mesg=(\d+)\D/g)].at(-1)?.[1] ?? count);
  });
  while (!(await responses(port))) await delay(20);
  return { port, pid: child.pid ?? 0, method: 'smtp-sink', count: () => count, stop: () => end(child) };
}

async function startOwnSink(): Promise<SinkProcess> {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'json' });
  let total = 0;
  const [port] = (await once(child, 'message')) as [number];
  child.on('message', (count) => {
    total = Number(count);
  });
  return { port, pid: child.pid ?? 0, method: 'a sink of our own', count: () => total, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

function responses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

if (import.meta.main) {
  const sink = await startSink();
  process.send?.(sink.port);
  let last_count = 0;
  setInterval(() => {
    if (sink.count() !== last_count) process.send?.(sink.count());
    last_count = sink.count();
  }, REPORT_MS);
}
