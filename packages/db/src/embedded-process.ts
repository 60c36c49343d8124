import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The operating system user that Postgres runs as when ours is root, whom Postgres refuses. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface Finished {
  readonly code: number;
  readonly output: string;
}

/** Runs a program to its end; a program that cannot be started counts as one that failed. */
export function run(
  user: ServerUser | null,
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(file, args, {
      // The caller's directory may be closed to the server's user, and initdb insists on reading it.
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // A group of its own: a Ctrl-C in the terminal is for us, who stop the server in our turn.
      detached: process.platform !== 'win32',
      // Nothing of the caller's environment is the server's business; Windows cannot start programs without it.
      ...(process.platform === 'win32'
        ? {}
        : { env: { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin', ...environment } }),
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
    });
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('error', (error) => resolve({ code: -1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? -1, output: output.trim() }));
  });
}

/** Asks the operating system rather than mode bits, so that ACLs and mount options count. */
export async function canEnter(user: ServerUser | null, directory: string): Promise<boolean> {
  if (!user) return true;
  const { code } = await run(user, '/bin/sh', ['-c', 'cd "$1"', 'sh', directory]);
  return code === 0;
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Tells two processes apart that had the same pid one after the other, which is common in containers;
 * empty where the system does not say.
 */
export function processBirth(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 is the start time; the command in field 2 may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

export function processCommand(pid: number): readonly string[] | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return null;
  }
}
