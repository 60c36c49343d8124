import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '@postrider/db';
import { stopAll } from '../measure/flow.ts';
import { runLoad } from '../measure/load.ts';
import type { BenchOptions } from '../options.ts';
import { onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct, startProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 10;
const CONNECTIONS = 50;
const LETTER_BYTES = 4 * 1024;
const MOST_MAILS = 1_000_000;
const LOOK_AGAIN_MS = 1000;
const LIMIT_SECONDS = 7200;
// Tables with fewer changes are not worth a line.
const LEAST_CHANGES = 1000;

/** Storage parameters of tables, by the table; a partitioned one stands for its partitions. */
type Parameters = Readonly<Record<string, string>>;
const JOBS = 'jobs of deliveries';
const APPENDED = ['bodies', 'attempts', 'events', 'message_tags'];

const variants: Readonly<Record<string, Parameters>> = {
  'Postgres’s defaults': { recipients: 'fillfactor = 100', usage_months: 'fillfactor = 100' },
  'as released': {},
  'other values': {
    recipients: 'fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
    messages: 'fillfactor = 90',
    [JOBS]: 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000',
    ...Object.fromEntries(APPENDED.map((table) => [table, 'autovacuum_freeze_min_age = 0'])),
  },
};

interface TableRow {
  readonly table: string;
  readonly updates: number;
  readonly hot: number;
  readonly deletes: number;
  readonly inserts: number;
  readonly dead: number;
  readonly autovacuums: number;
  readonly heap: number;
  readonly indexes: number;
}

/** What storage parameters change, table by table, in a run of mails that are accepted and delivered at once. */
export function benchStorage({ messages }: BenchOptions): Promise<Report[]> {
  const count = Math.min(messages, MOST_MAILS);
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('storage'), KEYS);
    try {
      const reports: Report[] = [];
      const released = await parametersOf(product.sql);
      for (const [name, parameters] of Object.entries(variants)) {
        await product.reset();
        await resetParameters(product.sql, released);
        await setParameters(product.sql, parameters);
        reports.push({ title: `${count} mails: ${name}`, lines: await measure(product, count), rounds: null });
      }
      return reports;
    } finally {
      await product.stop();
    }
  });
}

async function measure(product: ProductDatabase, count: number): Promise<Line[]> {
  const { sql } = product;
  await sql`select pg_stat_reset()`;
  const before = await walOf(sql);
  const seconds = await acceptAndDeliver(product, count);
  const wal = (await walOf(sql)) - before;
  const lines = [
    line('', 'accepted and delivered', `${(count / seconds).toFixed(0)}/s`),
    line('', 'WAL a mail', `${(wal / count).toFixed(0)} bytes`),
  ];
  const rows = await tablesOf(sql);
  for (const row of rows) {
    if (row.updates + row.deletes + row.inserts < LEAST_CHANGES) continue;
    const vacuum = await vacuumOf(sql, row.table, '');
    const freeze = await vacuumOf(sql, row.table, 'freeze, ');
    const hot = row.updates === 0 ? 'no updates' : `${((row.hot / row.updates) * 100).toFixed(1)} % HOT`;
    lines.push(
      line('', row.table, `${hot}, ${row.dead} dead, ${row.autovacuums} autovacuums`),
      line('', '', `${megabytes(row.heap)} + ${megabytes(row.indexes)} indexes`),
      line(
        '',
        '',
        `vacuum ${vacuum.ms.toFixed(0)} ms, freeze ${freeze.ms.toFixed(0)} ms ${megabytes(freeze.wal)} of WAL`,
      ),
    );
  }
  return lines;
}

/** The seconds until every mail is delivered. */
async function acceptAndDeliver(product: ProductDatabase, count: number): Promise<number> {
  const sink = await startSinkProcess();
  const environment = deliveryEnvironment(sink.port);
  const rest = await startProduct(product, { ...environment, ROLES: 'rest' });
  const worker = await startProduct(product, { ...environment, ROLES: 'worker' });
  try {
    const started = performance.now();
    const requests = product.requestsOf(letter(LETTER_BYTES));
    await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: LIMIT_SECONDS, count, requests });
    while ((await openOf(product.sql)) > 0) await delay(LOOK_AGAIN_MS);
    const seconds = (performance.now() - started) / 1000;
    // The counters of a connection are stored a second after its last statement.
    await delay(2 * LOOK_AGAIN_MS);
    return seconds;
  } finally {
    await stopAll([worker, rest, sink]);
  }
}

async function openOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from recipients where is_open`;
  return row?.count ?? 0;
}

async function walOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`;
  return row?.bytes ?? 0;
}

interface TableParameters {
  readonly name: string;
  readonly parameters: readonly string[];
}

async function parametersOf(sql: Sql): Promise<TableParameters[]> {
  return sql<TableParameters[]>`
    select oid::regclass::text as name, coalesce(reloptions, '{}') as parameters from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`;
}

/** What the variant before has set would go on in the next. */
async function resetParameters(sql: Sql, released: readonly TableParameters[]): Promise<void> {
  const wanted = new Map(released.map(({ name, parameters }) => [name, parameters]));
  for (const { name, parameters } of await parametersOf(sql)) {
    const before = wanted.get(name) ?? [];
    if (parameters.join() === before.join()) continue;
    const names = parameters.map((parameter) => parameter.split('=')[0]);
    if (names.length > 0) await sql.unsafe(`alter table ${name} reset (${names.join()})`);
    if (before.length > 0) await sql.unsafe(`alter table ${name} set (${before.join()})`);
  }
}

/** Of each table that is no parent. */
async function setParameters(sql: Sql, parameters: Parameters): Promise<void> {
  const tables = await sql<{ name: string; parent: string }[]>`
    select c.oid::regclass::text as name, case when q.name = 'delivery.attempt' then ${JOBS}::text
      else coalesce(i.inhparent, c.oid)::regclass::text end as parent
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
      left join pgboss.queue q on q.table_name = c.relname and c.relnamespace = 'pgboss'::regnamespace
    where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`;
  for (const { name, parent } of tables) {
    const values = parameters[parent];
    if (values !== undefined) await sql.unsafe(`alter table ${name} set (${values})`);
  }
}

async function tablesOf(sql: Sql): Promise<TableRow[]> {
  return sql<TableRow[]>`
    select t.relid::regclass::text as table, t.n_tup_upd::float8 as updates, t.n_tup_hot_upd::float8 as hot,
      t.n_tup_del::float8 as deletes, t.n_tup_ins::float8 as inserts, t.n_dead_tup::float8 as dead,
      t.autovacuum_count::float8 as autovacuums, pg_relation_size(t.relid)::float8 as heap,
      pg_indexes_size(t.relid)::float8 as indexes
    from pg_stat_user_tables t order by 1`;
}

/** What a vacuum of a table takes, and writes. */
async function vacuumOf(sql: Sql, table: string, how: string): Promise<{ readonly ms: number; readonly wal: number }> {
  const before = await walOf(sql);
  const started = performance.now();
  await sql.unsafe(`vacuum (${how}index_cleanup on) ${table}`);
  return { ms: performance.now() - started, wal: (await walOf(sql)) - before };
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
