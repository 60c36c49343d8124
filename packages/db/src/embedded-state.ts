import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { processCommand, processExists } from './embedded-process.ts';

/** The contents of embedded.json, readable only by its owner. */
export interface State {
  /** Relative to the data directory, or absolute if the Postgres user cannot reach into it. */
  readonly directory: string;
  readonly password: string;
}

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

export function readState(data_dir: string): State | null {
  const path = join(data_dir, 'embedded.json');
  if (!existsSync(path)) return null;
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (value !== null && typeof value === 'object' && 'directory' in value && 'password' in value) {
    return { directory: String(value.directory), password: String(value.password) };
  }
  throw new Error(`${path} is damaged. Restore it, or move ${data_dir} away to start with an empty database.`);
}

/** Returns the running server of this directory, or null. */
export function findPostmaster(data: string): Postmaster | null {
  const path = join(data, 'postmaster.pid');
  if (!existsSync(path)) return null;
  const [pid = '', directory, , port] = readFileSync(path, 'utf8').split('\n');
  // A copied tree contains the pid file of the original's server.
  if (resolve(directory ?? '') !== data || !processExists(Number(pid))) return null;
  const command = processCommand(Number(pid));
  if (command && !command.includes(data)) return null;
  return { pid: Number(pid), port: Number(port) };
}
