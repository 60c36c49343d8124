import { setTimeout as pause } from 'node:timers/promises';
import {
  type Config,
  catalogue,
  createContext,
  createServices,
  invoke,
  type Log,
  roleNames,
  runAll,
  type Services,
  systemClock,
} from '@postrider/core';
import { createLoginLink } from '@postrider/core/people';
import { extendPartitions } from '@postrider/core/storage';
import { oldestWorkspace, type Provisioned, provision } from '@postrider/core/workspaces';
import { connect, connectLanes, migrate, pendingMigrations } from '@postrider/db';
import { startEmbedded } from '@postrider/db/embedded';
import { createQueue, installQueue, missingQueues } from '@postrider/queue';
import { openDashboard } from './dashboard-build.ts';
import { bindHttpServer } from './http-server.ts';
import { startRoles } from './roles.ts';
import { loadSecretKey } from './secret-key.ts';

export interface Running {
  readonly services: Services;
  readonly url: string;
  readonly capture_port: number | null;
  readonly inbound_port: number | null;
  readonly provisioned: Provisioned;
  /** A one-time sign-in link for an operator that this start created without ADMIN_PASSWORD; null otherwise. */
  readonly login_link: string | null;
  readonly embedded: boolean;
  stop(): Promise<void>;
}

const POOL_SIZE = 10;
const ACCEPT_LANES = 2;
const QUEUE_POOL_SIZE = 4;
const MIGRATION_WAIT_MS = 60_000;

/**
 * Starts a process: database, migrations, provisioning, port, roles. A stop undoes it in reverse, and so does the signal
 * between two steps of the start.
 */
export async function startPostrider(
  config: Config,
  log: Log,
  on_progress: (line: string) => void,
  signal: AbortSignal,
  /** Called at once: its secrets exist nowhere else, and the start may still fail. */
  on_provisioned: (provisioned: Provisioned) => void = () => undefined,
  /** Where the sources of the dashboard are newer than its build, builds it beside the server. */
  builds_dashboard = false,
): Promise<Running> {
  const stops: (() => Promise<void>)[] = [];
  const stop = () => runAll('the stop', stops.splice(0));
  try {
    let database_url = config.DATABASE_URL;
    if (database_url === undefined) {
      const embedded = await startEmbedded({ data_dir: config.DATA_DIR, on_progress });
      stops.unshift(() => embedded.stop());
      database_url = embedded.url;
    }
    signal.throwIfAborted();
    const secret_key = await loadSecretKey(config);
    await prepareSchema(config, database_url, on_progress, signal);
    signal.throwIfAborted();
    const sql = connect(database_url, { max: POOL_SIZE, application_name: 'postrider' });
    stops.unshift(() => sql.end({ timeout: 1 }));
    await extendPartitions(sql).catch((error: unknown) =>
      // The default partition takes the rows meanwhile, and the hourly job retries.
      log.error({ err: error }, 'partitions could not be made at the start'),
    );
    const lanes = connectLanes(database_url, ACCEPT_LANES, 'postrider-accept');
    stops.unshift(async () => void (await Promise.all(lanes.map((lane) => lane.end({ timeout: 1 })))));
    const jobs = createQueue({
      sql,
      url: database_url,
      catalogue,
      application_name: 'postrider-queue',
      max_connections: QUEUE_POOL_SIZE,
      supervise: config.ROLES.includes('worker'),
      on_error: (error) => log.error({ err: error }, 'the queue reported an error'),
    });
    await jobs.start();
    stops.unshift(() => jobs.stop());
    const parts = { sql, lanes, jobs, clock: systemClock, log, config, secret_key };
    const provisioned = await provision(parts);
    on_provisioned(provisioned);
    const http = await bindHttpServer(config.HOST, config.PORT, log);
    stops.unshift(() => http.stop());
    const url = `http://${shownHost(config.HOST)}:${http.port}`;
    const services = createServices({ ...parts, public_url: config.PUBLIC_URL ?? url });
    stops.unshift(() => services.key_uses.stop());
    stops.unshift(() => services.request_log.flush());
    const dashboard = config.ROLES.includes('admin') ? openDashboard(builds_dashboard, log) : null;
    if (dashboard) stops.unshift(() => dashboard.stop());
    const roles = await startRoles(services, http, dashboard);
    stops.unshift(() => roles.stop());
    const login_link = config.ROLES.includes('admin') ? await firstLoginLink(services, provisioned) : null;
    return {
      services,
      url,
      capture_port: roles.capture_port,
      inbound_port: roles.inbound_port,
      provisioned,
      login_link,
      embedded: config.DATABASE_URL === undefined,
      stop,
    };
  } catch (error) {
    await stop().catch((stop_error: unknown) => log.error({ err: stop_error }, 'the stop failed'));
    throw error;
  }
}

/** Created only together with a generated password: with ADMIN_PASSWORD set, no credential may reach the log. */
async function firstLoginLink(services: Services, { operator }: Provisioned): Promise<string | null> {
  if (!operator?.password) return null;
  const workspace_id = (await oldestWorkspace(services.sql)) ?? '';
  const ctx = createContext(services, { kind: 'system', workspace_id }, { via: 'cli' });
  return (await invoke(ctx, createLoginLink, { email: operator.email })).url;
}

/** An all-in-one process migrates; a process with some roles only waits for the migrate command. */
async function prepareSchema(
  config: Config,
  database_url: string,
  on_progress: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const sql = connect(database_url, { max: 1, application_name: 'postrider-start' });
  try {
    if (roleNames.every((role) => config.ROLES.includes(role))) {
      if ((await pendingMigrations(sql)).length > 0) {
        on_progress('Preparing the database');
        await migrate(database_url);
      }
      await installQueue(database_url, catalogue);
      return;
    }
    const deadline = performance.now() + MIGRATION_WAIT_MS;
    for (;;) {
      const pending = [...(await pendingMigrations(sql)), ...(await missingQueues(sql, catalogue))];
      if (pending.length === 0) return;
      if (performance.now() > deadline)
        throw new Error(`The database lacks ${pending.join(', ')}; run npm run migrate, then start again.`);
      on_progress(`Waiting for npm run migrate (${pending.length} to go)`);
      await pause(1000, undefined, { signal });
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === '127.0.0.1') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
