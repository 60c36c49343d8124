import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostmaster, readState } from './embedded-state.ts';

/** Where root stores the files that Postgres's user must reach if the checkout is closed to it, as under /root. */
export const machineDirectories = ['/var/lib/postrider', join(tmpdir(), 'postrider-root')] as const;

/** A database of this machine that no data directory refers to. */
export interface Leftover {
  readonly directory: string;
  /** The data directory that it was made for. */
  readonly made_for: string;
}

/** A directory that is closed to this process, or not there, has none. */
export function leftoverDatabases(parents: readonly string[] = machineDirectories): Leftover[] {
  return parents.flatMap((parent) =>
    clustersIn(parent)
      .map((name) => join(parent, name))
      .flatMap((directory) => {
        const made_for = read(join(directory, 'owner'));
        if (made_for === null || refersTo(made_for, directory)) return [];
        return findPostmaster(join(directory, 'data')) ? [] : [{ directory, made_for }];
      }),
  );
}

/** Removes one if it is still left over. */
export function removeLeftover({ directory }: Leftover, parents: readonly string[] = machineDirectories): boolean {
  if (!leftoverDatabases(parents).some((one) => one.directory === directory)) return false;
  rmSync(directory, { recursive: true, force: true });
  return true;
}

export function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function clustersIn(parent: string): string[] {
  try {
    return readdirSync(parent).filter((name) => name.startsWith('cluster-'));
  } catch {
    return [];
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** What cannot be read may be one that is in use. */
function refersTo(data_dir: string, directory: string): boolean {
  try {
    return existsSync(data_dir) && readState(data_dir)?.directory === directory;
  } catch {
    return true;
  }
}
