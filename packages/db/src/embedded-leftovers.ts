import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

/** folder_missing: the data directory may be on a volume that is not mounted, and refer to it. */
export type Removal = 'removed' | 'not_left_over' | 'folder_missing';

/** Removes one that is left over. `deleted` says that a folder which is missing around its data directory was deleted. */
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

/** What goes away meanwhile counts as nothing. */
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

/** What cannot be read may be one that is in use. */
function refersTo(data_dir: string, directory: string): boolean {
  try {
    return existsSync(data_dir) && readState(data_dir)?.directory === directory;
  } catch {
    return true;
  }
}
