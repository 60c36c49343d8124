import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processBirth, processExists } from './embedded-process.ts';

const LOCK_WAIT_MS = 120_000;
const LOCK_POLL_MS = 25;
/** The process id, its start time and its data directory. */
const IDENTITY_LINES = 3;

/** Serializes starts and stops of a data directory, including across processes. */
export async function inTurn<T>(data_dir: string, work: () => Promise<T>): Promise<T> {
  const path = join(data_dir, 'embedded.lock');
  const own_file = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(own_file, identity(data_dir));
  try {
    const deadline = performance.now() + LOCK_WAIT_MS;
    while (!tryLink(own_file, path)) {
      if (breakAbandoned(data_dir, path)) continue;
      if (performance.now() > deadline) {
        throw new Error(`Another process has been starting or stopping the database in ${data_dir} for two minutes.`);
      }
      await delay(LOCK_POLL_MS);
    }
    try {
      return await work();
    } finally {
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(own_file, { force: true });
  }
}

/** Records that this process uses the database; the returned function removes the record. */
export function hold(data_dir: string): () => void {
  const record = new HolderRecord(data_dir);
  return () => record.remove();
}

/** Returns the announcements of the live processes that use a data directory. */
export function announcements(data_dir: string): string[] {
  const directory = holdersDirectory(data_dir);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const holder = readText(join(directory, name));
    const notes = holder.split('\n').slice(IDENTITY_LINES).join('\n');
    return notes !== '' && isAlive(realpathSync(data_dir), holder) ? [notes] : [];
  });
}

export interface Claim {
  /** Replaces this process's announcement. */
  say(text: string): void;
  end(): void;
}

/** Announces something about this process, unless another process's announcement conflicts with it. */
export async function claim(
  data_dir: string,
  owner: string,
  refuse: (names: readonly string[]) => void,
): Promise<Claim> {
  const directory = realpathSync(data_dir);
  return inTurn(directory, async () => {
    refuse(announcements(directory));
    const record = new HolderRecord(directory, owner);
    return { say: (more) => record.write(more), end: () => record.remove() };
  });
}

/** A file that records which process uses a data directory. */
class HolderRecord {
  readonly #data_dir: string;
  readonly #path: string;

  constructor(data_dir: string, notes = '') {
    const directory = holdersDirectory(data_dir);
    mkdirSync(directory, { recursive: true });
    this.#data_dir = data_dir;
    this.#path = join(directory, randomBytes(6).toString('hex'));
    this.write(notes);
  }

  write(notes: string): void {
    writeFileSync(this.#path, notes === '' ? identity(this.#data_dir) : `${identity(this.#data_dir)}\n${notes}`);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

export function isHeld(data_dir: string): boolean {
  const directory = holdersDirectory(data_dir);
  let has_holders = false;
  for (const name of readdirSync(directory)) {
    if (isAlive(data_dir, readText(join(directory, name)))) has_holders = true;
    else rmSync(join(directory, name), { force: true });
  }
  return has_holders;
}

export function holdersDirectory(data_dir: string): string {
  return join(data_dir, 'embedded-holders');
}

/** Includes the directory, because a copied tree contains the records of processes that use the original. */
function identity(data_dir: string): string {
  return [process.pid, processBirth(process.pid), data_dir].join('\n');
}

function isAlive(data_dir: string, holder: string): boolean {
  const [pid, birth, directory] = holder.split('\n');
  return directory === data_dir && processExists(Number(pid)) && processBirth(Number(pid)) === birth;
}

/**
 * Tries to create a link, because a link appears together with its content, whereas a file is created empty and written
 * afterward.
 */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function breakAbandoned(data_dir: string, path: string): boolean {
  const holder = readText(path);
  if (holder === '' || isAlive(data_dir, holder)) return holder === '';
  const renamed = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, renamed);
  } catch {
    return true;
  }
  // Another process may have broken and retaken the lock since it was read. If so, restore it.
  if (readText(renamed) !== holder) tryLink(renamed, path);
  rmSync(renamed, { force: true });
  return true;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
