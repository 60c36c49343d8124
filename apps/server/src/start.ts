import { setTimeout as pause } from 'node:timers/promises';
import {
  type Config,
  catalogue,
  createContext,
  createEncryption,
  createServices,
  invoke,
  type Log,
  roleNames,
  runAll,
  type Services,
  systemClock,
} from '@postrider/core';
import { countWorkers } from '@postrider/core/delivery';
import { createLoginLink } from '@postrider/core/people';
import { program_name } from '@postrider/core/program';
import { requireSecrets, startReencryption } from '@postrider/core/secrets';
import { extendPartitions } from '@postrider/core/storage';
import { oldestWorkspace, type Provisioned, provision } from '@postrider/core/workspaces';
import {
  connect,
  connectSingly,
  followReplica,
  isCertificateFault,
  isOutage,
  mayMigrate,
  migrate,
  offersNoTls,
  pendingMigrations,
  type Replica,
  requireSession,
  requireUpgradable,
  type Sql,
  writability,
} from '@postrider/db';
import { type Leftover, leftoverDatabases, startEmbedded } from '@postrider/db/embedded';
import { createQueue, installQueue, missingQueues } from '@postrider/queue';
import { bindHttpServer } from './http-server.ts';
import { claimData, type OnlyOne } from './only-one.ts';
import { type ListenerPorts, startRoles } from './roles.ts';
import { loadSecretKey } from './secret-key.ts';
import { startTraces } from './telemetry/start-telemetry.ts';

export interface Running {
  readonly services: Services;
  readonly url: string;
  readonly ports: ListenerPorts;
  readonly provisioned: Provisioned;
  /** A one-time sign-in link for an operator that this start created without ADMIN_PASSWORD, or null. */
  readonly login_link: string | null;
  readonly embedded: boolean;
  /** Embedded databases on this machine that no data directory refers to. */
  readonly leftovers: readonly Leftover[];
  /** The number of live workers across all processes. */
  readonly worker_count: number;
  stop(): Promise<void>;
}

const POOL_SIZE = 10;
const ACCEPT_CONNECTIONS = 2;
const QUEUE_POOL_SIZE = 4;
const TASK_POOL_SIZE = 4;
const DIRECT_POOL_SIZE = 2;
const POLL_MS = 500;
const LOCK_PART = 0.8;
const ASK_MS = 5000;

/**
 * Starts a process: database, migrations, provisioning, port, and roles. Stopping undoes these steps in reverse order,
 * and so does an abort between two of them.
 */
export async function startPostrider(
  config: Config,
  log: Log,
  on_progress: (line: string) => void,
  signal: AbortSignal,
  /** Called as soon as the secrets have been created, because they exist nowhere else and startup may still fail. */
  on_provisioned: (provisioned: Provisioned) => void = () => undefined,
  /** Whether to build the dashboard alongside the server if its sources are newer than its build. */
  builds_dashboard = false,
): Promise<Running> {
  const stops: (() => Promise<void>)[] = [];
  const stop = () => runAll('the stop', stops.splice(0));
  try {
    let database_url = config.DATABASE_URL;
    let lock: OnlyOne | null = null;
    if (database_url === undefined) {
      const embedded = await startEmbedded({ data_dir: config.DATA_DIR, on_progress });
      stops.unshift(() => embedded.stop());
      database_url = embedded.url;
      lock = await claimData(config);
      stops.unshift(async () => lock?.end());
    }
    signal.throwIfAborted();
    const secret_key = await loadSecretKey(config);
    const direct_url = config.DATABASE_DIRECT_URL ?? database_url;
    await awaitSchema(config, direct_url, on_progress, signal);
    if (direct_url !== database_url) {
      await awaitDatabase(database_url, on_progress, signal, performance.now() + config.LIMITS.database_start);
    }
    signal.throwIfAborted();
    const { LIMITS } = config;
    const connect_ms = LIMITS.database_connect;
    const pool = { application_name: 'postrider', connect_ms };
    const sql = connect(database_url, {
      ...pool,
      max: POOL_SIZE,
      answer_ms: LIMITS.database_answer,
      // Postgres stops waiting for a lock, and reports why, before the connection is closed.
      lock_ms: Math.round(LIMITS.database_answer * LOCK_PART),
    });
    stops.unshift(() => sql.end({ timeout: 1 }));
    if (direct_url !== database_url) await requirePooledSession(database_url, pool);
    const direct = connectDirectly(config, sql);
    if (direct !== sql) stops.unshift(() => direct.end({ timeout: 1 }));
    const task_sql = connect(database_url, {
      ...pool,
      max: TASK_POOL_SIZE,
      answer_ms: LIMITS.database_chore,
      statement_ms: LIMITS.database_chore,
    });
    stops.unshift(() => task_sql.end({ timeout: 1 }));
    const encryption = createEncryption(secret_key, config.SECRET_KEY_PREVIOUS);
    await requireSecrets({ sql, encryption });
    await extendPartitions(sql).catch((error: unknown) =>
      // The default partition stores the rows until the hourly job succeeds in creating the partitions.
      log.error({ err: error }, 'failed to create partitions at startup'),
    );
    const accept_connections = connectSingly(database_url, ACCEPT_CONNECTIONS, {
      application_name: 'postrider-accept',
      connect_ms,
      answer_ms: LIMITS.database_accept,
    });
    stops.unshift(
      async () => void (await Promise.all(accept_connections.map((connection) => connection.end({ timeout: 1 })))),
    );
    const jobs = createQueue({
      sql,
      direct,
      url: direct_url,
      catalogue,
      application_name: 'postrider-queue',
      max_connections: QUEUE_POOL_SIZE,
      supervise: config.ROLES.includes('worker'),
      on_error: (error) => log.error({ err: error }, 'the job queue reported an error'),
    });
    await jobs.start();
    stops.unshift(() => jobs.stop());
    const replica = connectReplica(config, sql, log);
    if (replica) stops.unshift(() => replica.stop());
    const parts = { sql, direct, replica, accept_connections, jobs, clock: systemClock, log, config, secret_key };
    const provisioned = await provision(parts);
    on_provisioned(provisioned);
    const http = await bindHttpServer(config, log);
    stops.unshift(() => http.stop());
    const url = `http://${shownHost(config.HOST)}:${http.port}`;
    lock?.listens(url);
    const traces = await startTraces(config, http.port);
    stops.unshift(() => traces.stop());
    const services = createServices({ ...parts, public_url: config.PUBLIC_URL ?? url, tracing: traces.tracing });
    stops.unshift(() => services.key_uses.stop());
    stops.unshift(() => services.request_log.flush());
    const dashboard = config.ROLES.includes('admin')
      ? (await import('./dashboard-build.ts')).openDashboard(builds_dashboard, log)
      : null;
    if (dashboard) stops.unshift(() => dashboard.stop());
    if (config.ROLES.includes('worker')) await startReencryption(services);
    const roles = await startRoles(services, http, { dashboard, task_services: { ...services, sql: task_sql } });
    stops.unshift(() => roles.stop());
    const login_link = config.ROLES.includes('admin') ? await firstLoginLink(services, provisioned) : null;
    return {
      services,
      url,
      ports: roles.ports,
      provisioned,
      login_link,
      worker_count: await countWorkers(sql),
      embedded: config.DATABASE_URL === undefined,
      leftovers: config.DATABASE_URL === undefined ? leftoverDatabases() : [],
      stop,
    };
  } catch (error) {
    await stop().catch((stop_error: unknown) => log.error({ err: stop_error }, 'shutdown failed'));
    throw error;
  }
}

/**
 * Returns a sign-in link if this start generated the operator's password. Otherwise, returns null: if ADMIN_PASSWORD is
 * set, no credential may reach the log.
 */
async function firstLoginLink(services: Services, { operator }: Provisioned): Promise<string | null> {
  if (!operator?.password) return null;
  const workspace_id = (await oldestWorkspace(services.sql)) ?? '';
  const ctx = createContext(services, { kind: 'system', workspace_id }, { via: 'cli' });
  return (await invoke(ctx, createLoginLink, { email: operator.email })).url;
}

async function requirePooledSession(
  database_url: string,
  pool: { readonly application_name: string; readonly connect_ms: number },
): Promise<void> {
  const [one, two] = connectSingly(database_url, 2, pool);
  if (!one || !two) throw new Error('two connections were asked for');
  try {
    await requireSession([one, two]);
  } finally {
    await Promise.all([one, two].map((sql) => sql.end({ timeout: 1 })));
  }
}

/**
 * Connects without the pooler, whose connections outlive those of a process. Used for LISTEN and for worker liveness.
 */
function connectDirectly({ DATABASE_DIRECT_URL, LIMITS }: Config, sql: Sql): Sql {
  if (DATABASE_DIRECT_URL === undefined) return sql;
  return connect(DATABASE_DIRECT_URL, {
    application_name: 'postrider-direct',
    max: DIRECT_POOL_SIZE,
    connect_ms: LIMITS.database_connect,
    answer_ms: LIMITS.database_answer,
  });
}

/** Connects to the replica, for reads that may be a few seconds stale. Without a replica, they go to the primary. */
function connectReplica({ DATABASE_READ_URL, LIMITS }: Config, primary: Sql, log: Log): Replica | null {
  if (DATABASE_READ_URL === undefined) return null;
  const sql = connect(DATABASE_READ_URL, {
    application_name: 'postrider-read',
    max: POOL_SIZE,
    connect_ms: LIMITS.database_connect,
    answer_ms: LIMITS.database_answer,
  });
  return followReplica(primary, sql, (usable) =>
    usable
      ? log.info('reading lists and statistics from the replica')
      : log.warn('the replica is unreachable or over five seconds behind; reading from the primary'),
  );
}

/**
 * Waits for the database and prepares the schema. If the database becomes unavailable in between, waits for it again.
 */
async function awaitSchema(
  config: Config,
  database_url: string,
  on_progress: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + config.LIMITS.database_start;
  for (;;) {
    await awaitDatabase(database_url, on_progress, signal, deadline);
    try {
      return await prepareSchema(config, database_url, on_progress, signal);
    } catch (error) {
      if (!isOutage(error) || performance.now() > deadline) throw error;
    }
  }
}

/** Waits for a database that is starting or temporarily unavailable. Any other database problem fails startup. */
async function awaitDatabase(
  database_url: string,
  on_progress: (line: string) => void,
  signal: AbortSignal,
  deadline: number,
): Promise<void> {
  const location = URL.canParse(database_url) ? new URL(database_url).host : 'DATABASE_URL';
  for (let is_reported = false; ; is_reported = true) {
    const sql = connect(database_url, { max: 1, application_name: 'postrider-start', answer_ms: ASK_MS });
    try {
      await writability(sql);
      return;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isCertificateFault(error)) {
        throw new Error(
          `The certificate of the database at ${location} could not be verified (${reason}). Name the certificate of its ` +
            'authority in DATABASE_URL, as ?sslrootcert=/path, or write ?sslmode=require to encrypt without verifying.',
        );
      }
      if (!isOutage(error)) throw error;
      if (await offersNoTls(database_url)) {
        throw new Error(
          `The database at ${location} does not offer TLS, which is required for other hosts unless DATABASE_URL says ` +
            'otherwise. Enable TLS on the server, or add ?sslmode=disable to DATABASE_URL if the network is trusted.',
        );
      }
      if (performance.now() > deadline) throw new Error(`The database at ${location} is unreachable: ${reason}.`);
      if (!is_reported) on_progress(`Waiting for the database at ${location} (${reason})`);
    } finally {
      await sql.end({ timeout: 0 });
    }
    await pause(POLL_MS, undefined, { signal });
  }
}

/**
 * Prepares the schema. An all-in-one process runs the migrations. A process with only some roles, or whose database
 * role owns nothing, waits for the migrate command.
 */
async function prepareSchema(
  config: Config,
  database_url: string,
  on_progress: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const sql = connect(database_url, {
    max: 1,
    application_name: 'postrider-start',
    answer_ms: config.LIMITS.database_answer,
  });
  try {
    await requireUpgradable(sql);
    if (roleNames.every((role) => config.ROLES.includes(role)) && (await mayMigrate(sql))) {
      if ((await pendingMigrations(sql)).length > 0) {
        on_progress('Preparing the database');
        await migrate(database_url);
      }
      await installQueue(database_url, catalogue);
      return;
    }
    const deadline = performance.now() + config.LIMITS.migration_wait;
    for (;;) {
      const pending = [...(await pendingMigrations(sql)), ...(await missingQueues(sql, catalogue))];
      if (pending.length === 0) return;
      if (performance.now() > deadline)
        throw new Error(
          `The database is missing migrations (${pending.join(', ')}). Run ${program_name} migrate, then start again.`,
        );
      on_progress(`Waiting for ${program_name} migrate (${pending.length} to go)`);
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
