import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPostmaster, readState } from './embedded-state.ts';

/**
 * Where root stores the files that the Postgres user must reach when it cannot enter the checkout, for example under
 * /root.
 */
export const machineDirectories = ['/var/lib/postrider', join(tmpdir(), 'postrider-root')] as const;

/** A database on this machine that no data directory refers to. */
export interface Leftover {
  readonly directory: string;
  /** The data directory for which the database was created. */
  readonly made_for: string;
}

/** Returns nothing for a parent directory that is missing or cannot be read. */
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

/** folder_missing: the data directory may be on an unmounted volume, and still refer to the database. */
export type Removal = 'removed' | 'not_left_over' | 'folder_missing';

/**
 * Removes a leftover database. `deleted` says that a missing folder around its data directory was really deleted, not
 * just unmounted.
 */
export function removeLeftover(
  directory: string,
  deleted: boolean,
  parents: readonly string[] = machineDirectories,
): Removal {
  const leftover = leftoverDatabases(parents).find((one) => one.directory === directory);
  if (!leftover) return 'not_left_over';
  if (!deleted && !existsSync(dirname(leftover.made_for))) return 'folder_missing';
  rmSync(directory, { recursive: true, force: true });
  return 'removed';
}

/** Returns the size of everything under a path. Files that disappear meanwhile are not counted. */
export function bytesIn(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.isFile() ? stats.size : 0;
  return namesIn(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function clustersIn(parent: string): string[] {
  return namesIn(parent).filter((name) => name.startsWith('cluster-'));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
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

/**
 * Returns whether a data directory refers to a database. A reference that cannot be read counts, because the database
 * may be in use.
 */
function refersTo(data_dir: string, directory: string): boolean {
  try {
    return existsSync(data_dir) && readState(data_dir)?.directory === directory;
  } catch {
    return true;
  }
}
