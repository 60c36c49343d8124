import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The operating system user that runs Postgres when this process is root, because Postgres refuses to run as root. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface ProcessResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a program until it exits. A program that cannot be started counts as failed. */
export function run(
  user: ServerUser | null,
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ProcessResult> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(file, args, {
      // initdb reads the working directory, and the server's user may not have access to the caller's.
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // Its own process group: Ctrl-C must reach only this process, which then stops the server.
      detached: process.platform !== 'win32',
      // The server inherits nothing from the caller's environment, except on Windows, which cannot start programs
      // without it.
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

/** Checks with the operating system instead of reading mode bits, so that ACLs and mount options count. */
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
 * Returns the start time of a process, which identifies the process even if its pid is reused, as is common in
 * containers. Returns an empty string if the system does not report the time.
 */
export function processBirth(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 is the start time; the command in field 2 may contain spaces and parentheses.
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
