import { spawn } from 'node:child_process';
import { accessSync, constants, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogue } from '@postrider/core';
import { connect, migrate } from '@postrider/db';
import { startEmbedded } from '@postrider/db/embedded';
import { installQueue } from '@postrider/queue';
import type { TestProject } from 'vitest/node';
import { databaseUrl, installTestClock, TEMPLATE } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may create and drop databases. */
    postgres_url: string;
    /** The checkout of the release to upgrade from; null means this checkout. */
    release_before: string | null;
    /** Whether suites run in full instead of skipping parts to save time, as with `npm run test:browser -- --all`. */
    leaves_nothing_out: boolean;
  }
}

// The data does not outlive the run, so durability is off.
const throwawaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  // Background writers would only take CPU time from the tests.
  wal_writer_delay: '10s',
  bgwriter_lru_maxpages: '0',
  checkpoint_timeout: '1h',
  max_wal_senders: '0',
  max_connections: '300',
};

const MEMORY_DIRECTORY = '/dev/shm';
const MIN_MEMORY_BYTES = 4 * 1024 ** 3;

/**
 * Returns whether this machine has an in-memory directory with room for the run. In a container, the directory may have
 * only 64 MB.
 */
function hasMemoryDirectory(): boolean {
  try {
    accessSync(MEMORY_DIRECTORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_DIRECTORY);
    return bavail * bsize >= MIN_MEMORY_BYTES;
  } catch {
    return false;
  }
}

/** Starts one server for the run and builds the database that every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Cloning a database creates hundreds of files, which takes 400 ms on disk and 25 ms in memory. Test processes
  // inherit the setting for the data directories they create.
  if (hasMemoryDirectory()) process.env.TMPDIR = MEMORY_DIRECTORY;
  const server = await startServer();
  try {
    await buildTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgres_url', server.url);
  project.provide('release_before', process.env.POSTRIDER_RELEASE_BEFORE ?? null);
  project.provide('leaves_nothing_out', process.env.POSTRIDER_TEST_ALL === '1');
  return server.stop;
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const database_url = process.env.POSTRIDER_TEST_DATABASE_URL;
  if (database_url) return { url: database_url, stop: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'postrider-test-'));
  // Postgres refuses to run as root, so another user may need to access this directory.
  await chmod(directory, 0o755);
  stopWhenThisProcessIsGone(directory);
  const embedded = await startEmbedded({ data_dir: directory, settings: throwawaySettings });
  return {
    url: embedded.url,
    async stop() {
      await embedded.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a watcher whose standard input closes when this process exits. The watcher's own process group shields it from
 * a Ctrl-C in the terminal.
 */
function stopWhenThisProcessIsGone(directory: string): void {
  const watcher = fileURLToPath(new URL('stop-after-parent.ts', import.meta.url));
  const child = spawn(process.execPath, [watcher, directory], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.unref();
  // A pipe is a socket, so unref lets the process exit while it is open.
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
}

async function buildTemplate(server_url: string): Promise<void> {
  const server = connect(server_url, { max: 1, application_name: 'postrider-test-setup' });
  await server`drop database if exists ${server(TEMPLATE)} with (force)`;
  await server`create database ${server(TEMPLATE)}`;
  await server.end();

  const url = databaseUrl(server_url, TEMPLATE);
  await migrate(url);
  await installQueue(url, catalogue);
  const sql = connect(url, { max: 1, application_name: 'postrider-test-setup' });
  await installTestClock(sql);
  await sql.end();
}
