import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '@postrider/db';
import { stopAll } from '../measure/flow.ts';
import { requireOnly, runLoad } from '../measure/load.ts';
import type { BenchOptions } from '../options.ts';
import { onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct, secretOf, startProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { type PostSink, startPostSink } from '../receivers/post-sink.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 100;
// Workspaces with a webhook: 10 of 100, so a tenth of the messages.
const WITH_WEBHOOK = 10;
const CONNECTIONS = 50;
const LETTER_BYTES = 4 * 1024;
const MAX_EMAILS = 1_000_000;
const POLL_MS = 1000;
const REPORT_MS = 30_000;
const LIMIT_SECONDS = 7200;
// Tables with fewer changes are not worth a line.
const MIN_CHANGES = 100;

/** Storage parameters by table; a partitioned table stands for its partitions. */
type Parameters = Readonly<Record<string, string>>;
const JOBS = 'jobs of deliveries';
const APPENDED = ['bodies', 'attempts', 'events', 'message_tags'];

interface Variant {
  /** Whether the parameters set by migrations are in place. */
  readonly released: boolean;
  readonly parameters: Parameters;
}

const variants: Readonly<Record<string, Variant>> = {
  defaults: { released: false, parameters: {} },
  released: { released: true, parameters: {} },
  others: {
    released: true,
    parameters: {
      recipients: 'fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
      messages: 'fillfactor = 90',
      [JOBS]: 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000',
      ...Object.fromEntries(APPENDED.map((table) => [table, 'autovacuum_freeze_min_age = 0'])),
    },
  },
};

interface TableRow {
  readonly table: string;
  readonly parameters: string;
  readonly updates: number;
  readonly hot: number;
  readonly deletes: number;
  readonly inserts: number;
  readonly dead: number;
  readonly autovacuums: number;
  readonly heap: number;
  readonly indexes: number;
}

interface StorageResult {
  readonly lines: Line[];
  readonly figures: Record<string, number>;
}

/**
 * Measures the effect of storage parameters, table by table, in a run of messages that are accepted and delivered
 * concurrently; a tenth of the deliveries is posted to webhooks. Each variant starts with its own database.
 */
export async function benchStorage({ messages, variants: variant_names }: BenchOptions): Promise<Report[]> {
  const count = Math.min(messages, MAX_EMAILS);
  const chosen_names = variant_names.length === 0 ? Object.keys(variants) : variant_names;
  const reports: Report[] = [];
  for (const name of chosen_names) {
    const variant = variants[name];
    if (!variant) throw new Error(`no variant is called ${name}; there are ${Object.keys(variants).join(', ')}`);
    const measured = await onBenchServer(async (server) => {
      const product = await prepareProduct(await server.database('storage'), KEYS);
      try {
        if (!variant.released) await resetParameters(product.sql);
        await setParameters(product.sql, variant.parameters);
        return await measure(product, count);
      } finally {
        await product.stop();
      }
    });
    reports.push({ title: `${count} messages: ${name}`, rounds: null, ...measured });
  }
  return reports;
}

async function measure(product: ProductDatabase, count: number): Promise<StorageResult> {
  const { sql } = product;
  await sql`vacuum analyze`;
  await sql`select pg_stat_reset()`;
  const before = await walOf(sql);
  const seconds = await acceptAndDeliver(product, count);
  const wal = (await walOf(sql)) - before;
  const figures: Record<string, number> = { seconds, 'WAL per email': wal / count };
  const lines = [
    line('', 'accepted and delivered', `${(count / seconds).toFixed(0)}/s`),
    line('', 'WAL per email', `${(wal / count).toFixed(0)} bytes`),
  ];
  for (const row of await tablesOf(sql)) {
    if (row.updates + row.deletes + row.inserts < MIN_CHANGES) continue;
    const vacuum = await vacuumOf(sql, row.table, '');
    const freeze = await vacuumOf(sql, row.table, 'freeze, ');
    const hot = row.updates === 0 ? 'no updates' : `${((row.hot / row.updates) * 100).toFixed(1)} % HOT`;
    lines.push(
      line('', `${row.table} ${row.parameters}`, `${hot} of ${row.updates}, ${row.dead} dead`),
      line('', '', `${megabytes(row.heap)} + ${megabytes(row.indexes)} indexes, ${row.autovacuums} autovacuums`),
      line(
        '',
        '',
        `vacuum ${vacuum.ms.toFixed(0)} ms, freeze ${freeze.ms.toFixed(0)} ms ${megabytes(freeze.wal)} of WAL`,
      ),
    );
    const { table, parameters, ...numbers } = row;
    const all = { ...numbers, vacuum_ms: vacuum.ms, freeze_ms: freeze.ms, freeze_wal: freeze.wal };
    for (const [name, value] of Object.entries(all)) figures[`${table} ${name}`] = value;
  }
  return { lines, figures };
}

/** Returns the seconds until every message is delivered and every webhook is posted. */
async function acceptAndDeliver(product: ProductDatabase, count: number): Promise<number> {
  const sink = await startSinkProcess();
  const posts = await startPostSink();
  const environment = { ...deliveryEnvironment(sink.port), WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' };
  const rest = await startProduct(product, { ...environment, ROLES: 'rest' });
  const worker = await startProduct(product, { ...environment, ROLES: 'worker' });
  const timer = setInterval(() => void report(product.sql), REPORT_MS);
  try {
    const requests = product.requestsOf(letter(LETTER_BYTES));
    for (const request of requests.slice(0, WITH_WEBHOOK)) await addWebhook(rest.port, secretOf(request), posts);
    const started = performance.now();
    const load = { port: rest.port, connections: CONNECTIONS, seconds: LIMIT_SECONDS, count, requests };
    requireOnly(202, await runLoad(load), 'a send');
    while ((await countOpen(product.sql)) > 0 || posts.count() < (count * WITH_WEBHOOK) / KEYS) await delay(POLL_MS);
    const seconds = (performance.now() - started) / 1000;
    // A connection's counters are stored a second after its last statement.
    await delay(2 * POLL_MS);
    return seconds;
  } finally {
    clearInterval(timer);
    await stopAll([worker, rest, sink, posts]);
  }
}

async function addWebhook(port: number, secret: string, posts: PostSink): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `http://127.0.0.1:${posts.port}/`, events: ['email.delivered'] }),
  });
  if (response.status !== 201) throw new Error(`creating a webhook returned ${await response.text()}`);
}

async function report(sql: Sql): Promise<void> {
  const [row] = await sql<{ accepted: number }[]>`
    select coalesce(sum(n_tup_ins), 0)::float8 as accepted from pg_stat_user_tables where relname like 'messages_2%'`;
  process.stdout.write(`  ${row?.accepted ?? 0} accepted, ${await countOpen(sql)} of them open\n`);
}

async function countOpen(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from recipients where is_open`;
  return row?.count ?? 0;
}

async function walOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`;
  return row?.bytes ?? 0;
}

/** Resets the storage parameters of tables created by migrations, not those of pg-boss tables. */
async function resetParameters(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string; parameters: string[] }[]>`
    select oid::regclass::text as name, reloptions as parameters from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and reloptions is not null`;
  for (const { name, parameters } of tables) {
    const names = parameters.map((parameter) => parameter.split('=')[0]);
    await sql.unsafe(`alter table ${name} reset (${names.join()})`);
  }
}

/** Sets the parameters on every table that is not a partitioned parent. */
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
    select t.relid::regclass::text as table, coalesce(c.reloptions, '{}')::text as parameters,
      t.n_tup_upd::float8 as updates, t.n_tup_hot_upd::float8 as hot,
      t.n_tup_del::float8 as deletes, t.n_tup_ins::float8 as inserts, t.n_dead_tup::float8 as dead,
      t.autovacuum_count::float8 as autovacuums, pg_relation_size(t.relid)::float8 as heap,
      pg_indexes_size(t.relid)::float8 as indexes
    from pg_stat_user_tables t join pg_class c on c.oid = t.relid order by 1`;
}

/** Measures how long a vacuum of a table takes, and how much WAL it writes. */
async function vacuumOf(sql: Sql, table: string, mode: string): Promise<{ readonly ms: number; readonly wal: number }> {
  const before = await walOf(sql);
  const started = performance.now();
  await sql.unsafe(`vacuum (${mode}index_cleanup on) ${table}`);
  return { ms: performance.now() - started, wal: (await walOf(sql)) - before };
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
