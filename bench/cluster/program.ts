import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 100;
const START_MS = 60_000;

// A failed drill must leave no process behind.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A supporting program, such as a proxy, with its output written to a file. */
export interface Program {
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  readonly log: string;
  ready(): Promise<boolean>;
}

export async function startProgram({ command, args, env, uid, gid, log, ready }: ProgramOptions): Promise<Program> {
  const out = openSync(log, 'a');
  const child = spawn(command, args, {
    cwd: '/',
    env: { PATH: `${process.env.PATH}:/usr/sbin`, ...env },
    stdio: ['ignore', out, out],
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  });
  closeSync(out);
  running.add(child);
  const exit = once(child, 'exit').then(() => running.delete(child));
  const until = performance.now() + START_MS;
  while (!(await ready().catch(() => false))) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`${command} did not start; its log ends with:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    await pause(POLL_MS);
  }
  return {
    pid: child.pid ?? 0,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await exit;
    },
  };
}
