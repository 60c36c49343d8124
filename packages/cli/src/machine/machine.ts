import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Config,
  type Context,
  catalogue,
  createContext,
  createServices,
  readConfig,
  readServerRecord,
  systemClock,
  usualPorts,
} from '@postrider/core';
import { program_name } from '@postrider/core/program';
import { oldestWorkspace, workspaceById } from '@postrider/core/workspaces';
import { connect, pendingMigrations, type Sql } from '@postrider/db';
import { announcements, startEmbedded } from '@postrider/db/embedded';
import { createQueue } from '@postrider/queue';
import { pino } from 'pino';
import { serviceUrl } from '../connect/client.ts';
import { settingsOf } from '../connect/settings.ts';
import { Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** This machine's database, opened without the service. */
export interface Machine {
  readonly sql: Sql;
  /** Returns a system context in a workspace, the oldest by default. */
  asWorkspace(id?: string): Promise<Context>;
}

/** Returns whether Postrider is installed on this machine, as opposed to a machine that only calls it. */
export function isInstalledHere(config: Config): boolean {
  return config.DATABASE_URL !== undefined || existsSync(join(config.DATA_DIR, 'embedded.json'));
}

/**
 * Locates the database as the server does. Joins an embedded database that is running; otherwise runs it only for this
 * command.
 */
export async function withDatabase<T>(config: Config, work: (database_url: string) => Promise<T>): Promise<T> {
  if (config.DATABASE_URL !== undefined) return work(config.DATABASE_DIRECT_URL ?? config.DATABASE_URL);
  const embedded = await startEmbedded({ data_dir: config.DATA_DIR });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/**
 * Returns the URL of this machine's service: the one that is named, that of the server which is running with the embedded
 * database, whose port may have been set for that process only, or the one by the settings.
 */
export function localUrl(terminal: Terminal, { DATABASE_URL, DATA_DIR, PORT = usualPorts.PORT }: Config): string {
  if (settingsOf(terminal).url !== null) return serviceUrl(terminal);
  const servers = DATABASE_URL === undefined ? announcements(DATA_DIR).map(readServerRecord) : [];
  return servers.find(({ whole }) => whole)?.url ?? `http://localhost:${PORT}`;
}

/** Runs a command on this machine's installation. */
export async function withMachine<T>(terminal: Terminal, work: (machine: Machine) => Promise<T>): Promise<T> {
  const config = readConfig(terminal.env);
  if (!isInstalledHere(config)) throw notInstalled(config);
  return withDatabase(config, async (url) => {
    const sql = connect(url, { max: 2, application_name: 'postrider-cli' });
    try {
      const pending = await pendingMigrations(sql);
      if (pending.length > 0) throw notMigrated(pending);
      const public_url = config.PUBLIC_URL ?? localUrl(terminal, config);
      return await work({ sql, asWorkspace: (id) => contextOf({ config, sql, url, public_url }, id) });
    } finally {
      await sql.end({ timeout: 2 });
    }
  });
}

/** Runs an operation that sends jobs, for which the queue must be started. */
export async function withJobs<T>({ jobs }: Pick<Context, 'jobs'>, work: () => Promise<T>): Promise<T> {
  await jobs.start();
  try {
    return await work();
  } finally {
    await jobs.stop();
  }
}

interface Place {
  readonly config: Config;
  readonly sql: Sql;
  readonly url: string;
  readonly public_url: string;
}

async function contextOf(
  { config, sql, url, public_url }: Place,
  workspace_name: string | undefined,
): Promise<Context> {
  const workspace_id = workspace_name ?? (await oldestWorkspace(sql));
  if (workspace_id === null) throw notInstalled(config);
  if (workspace_name !== undefined && !(await workspaceById(sql, workspace_name)))
    throw unknownWorkspace(workspace_name);
  const log = pino({ level: 'silent' });
  // The queue is not started, because most commands send no job; those that do run within withJobs.
  const jobs = createQueue({
    sql,
    url,
    catalogue,
    application_name: 'postrider-cli',
    max_connections: 1,
    supervise: false,
    on_error: (error) => log.error({ err: error }),
  });
  const services = createServices({
    sql,
    jobs,
    clock: systemClock,
    log,
    config,
    secret_key: secretKey(config),
    public_url,
  });
  return createContext(services, { kind: 'system', workspace_id }, { via: 'cli' });
}

function secretKey(config: Config): string {
  if (config.SECRET_KEY) return config.SECRET_KEY;
  const file = join(config.DATA_DIR, 'secret-key');
  if (!existsSync(file)) throw notInstalled(config);
  return readFileSync(file, 'utf8').trim();
}

export function notInstalled(config: Config): Problem {
  return new Problem({
    reason: 'not_installed',
    message: config.DATABASE_URL
      ? 'The database at DATABASE_URL has no workspace yet.'
      : `DATABASE_URL is not set and ${config.DATA_DIR} contains no database.`,
    advice: 'Run npm start once, or set DATABASE_URL and SECRET_KEY, or DATA_DIR, to the values that the server uses.',
  });
}

function unknownWorkspace(id: string): Problem {
  return new Problem({
    reason: 'workspace_not_found',
    message: `No workspace with ID ${id}.`,
    advice: `Run \`${program_name} workspaces list\` to see workspaces.`,
  });
}

function notMigrated(pending: readonly string[]): Problem {
  return new Problem({
    reason: 'not_migrated',
    message: `The database is missing migrations: ${pending.join(', ')}.`,
    advice: `Run ${program_name} migrate, then run this command again.`,
  });
}
