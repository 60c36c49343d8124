import { connect, type Sql } from '@postrider/db';
import { PgBoss } from 'pg-boss';
import type { Catalogue } from './catalogue.ts';
import { bossConnection, QUERY_TIMEOUT_MS } from './connection.ts';
import { installJobFunction } from './job-rows.ts';

/** The schema of pg-boss. */
export const SCHEMA = 'pgboss';
/** The tables that `installQueue` fills. */
export const installedTables = ['version', 'queue'].map((name) => `${SCHEMA}.${name}`);

// Dead jobs are retained for inspection.
const DEAD_SECONDS = 30 * 86_400;

/** Creates or upgrades pg-boss's schema, the catalogue's queues and its schedules. Safe to repeat. */
export async function installQueue(url: string, catalogue: Catalogue): Promise<void> {
  const pg_boss = new PgBoss({
    ...bossConnection(url),
    schema: SCHEMA,
    max: 2,
    supervise: false,
    schedule: false,
    registerInstance: false,
  });
  const faults: unknown[] = [];
  pg_boss.on('error', (error) => faults.push(error));
  await pg_boss.start();
  try {
    for (const [name, { options }] of Object.entries(catalogue)) {
      const settings = {
        retryLimit: options.retry_limit,
        retryDelay: options.retry_delay_seconds,
        expireInSeconds: options.expire_seconds,
        // Longer than the furthest scheduled_at and the last retry, because pg-boss deletes waiting jobs after this.
        retentionSeconds: 60 * 86_400,
        deleteAfterSeconds: options.dead_seconds ?? DEAD_SECONDS,
        ...(options.heartbeat_seconds && { heartbeatSeconds: options.heartbeat_seconds }),
      };
      if (await pg_boss.getQueue(name)) await pg_boss.updateQueue(name, settings);
      else await pg_boss.createQueue(name, { ...settings, partition: true });
      if (options.cron) await pg_boss.schedule(name, options.cron, {}, { tz: 'UTC' });
    }
    await finishQueues(url, catalogue);
  } finally {
    await pg_boss.stop({ graceful: false });
  }
  if (faults.length > 0) throw faults[0];
}

async function finishQueues(url: string, catalogue: Catalogue): Promise<void> {
  const sql = connect(url, { max: 1, application_name: 'postrider-queue', answer_ms: QUERY_TIMEOUT_MS });
  try {
    await dropQueueChecks(sql, Object.keys(catalogue));
    for (const [name, { options }] of Object.entries(catalogue)) {
      if (options.sql_function) await installJobFunction(sql, name, options.sql_function);
    }
  } finally {
    await sql.end();
  }
}

/**
 * Drops pg-boss's foreign key from job to queue, which costs a query per inserted row, a tenth of the database cost of
 * an accept. Our inserts join the queue's row anyway, and no queue is ever deleted.
 */
async function dropQueueChecks(sql: Sql, names: readonly string[]): Promise<void> {
  const checks = await sql<{ table: string; name: string }[]>`
    select q.table_name as table, c.conname as name from pgboss.queue q
    join pg_constraint c on c.conrelid = format('pgboss.%I', q.table_name)::regclass and c.contype = 'f'
    where q.partition and q.name = any (${names}::text[]) and c.confrelid = 'pgboss.queue'::regclass`;
  for (const { table, name } of checks) {
    await sql`alter table ${sql(`pgboss.${table}`)} drop constraint if exists ${sql(name)}`;
  }
}

/** Returns the catalogue's queues that installQueue has not created yet. */
export async function missingQueues(sql: Sql, catalogue: Catalogue): Promise<string[]> {
  const [schema] = await sql<{ there: boolean }[]>`select to_regclass('pgboss.queue') is not null as there`;
  const installed = schema?.there ? await sql<{ name: string }[]>`select name from pgboss.queue` : [];
  return Object.keys(catalogue).filter((name) => !installed.some((queue) => queue.name === name));
}
