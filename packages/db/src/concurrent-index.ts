import { createHash } from 'node:crypto';
import type { Client } from 'pg';

/** The first line of a migration that contains only indexes to be created while the tables are being written to. */
const MARK = /^-- concurrently\b/i;
const INDEX = /^create (unique )?index ([a-z0-9_]+) on ([a-z0-9_.]+)\s+([^;]+);/gm;
const REST = /--[^\n]*|\s+/g;
// Postgres truncates longer names.
const PLAIN_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

interface Index {
  readonly unique: string;
  readonly name: string;
  readonly table: string;
  /** Everything from the column list onward. */
  readonly rest: string;
}

type Asks = Pick<Client, 'query'>;

export const isConcurrent = (text: string) => MARK.test(text);

/** Throws for anything that cannot run outside a transaction or be repeated safely. */
export function indexesOf(text: string): Index[] {
  const indexes = [...text.matchAll(INDEX)].map(([, unique = '', name = '', table = '', rest = '']) => ({
    unique,
    name,
    table,
    rest,
  }));
  if (indexes.length === 0 || text.replaceAll(INDEX, '').replaceAll(REST, '') !== '')
    throw new Error('A migration that is marked "concurrently" holds only: create index NAME on TABLE (…);');
  return indexes;
}

/**
 * Creates an index without blocking writes. Postgres supports this for one table at a time and never for a partitioned
 * one. So the parent gets its index first, which new partitions inherit, and the index of each existing partition is
 * then built and attached. An interrupted run is continued by the next one.
 */
export async function makeIndex(client: Asks, index: Index): Promise<void> {
  const { unique, name, table, rest } = index;
  const { rows } = await client.query<{ partitioned: boolean }>(
    "select relkind = 'p' as partitioned from pg_class where oid = to_regclass($1)",
    [table],
  );
  if (!rows[0]?.partitioned) return buildIndex(client, index);
  if ((await stateOf(client, name, table)) === 'absent')
    await client.query(`create ${unique}index ${name} on only ${table} ${rest}`);
  for (const partition of await partitionsWithout(client, table, name)) {
    const part = { unique, name: nameOnPartition(partition.name, name), table: partition.address, rest };
    await buildIndex(client, part);
    await client.query(`alter index ${name} attach partition ${part.name}`);
  }
}

function nameOnPartition(partition: string, index: string): string {
  const name = `${partition}_${index}`;
  if (PLAIN_NAME.test(name)) return name;
  return `${index.slice(0, 54)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

async function buildIndex(client: Asks, { unique, name, table, rest }: Index): Promise<void> {
  const state = await stateOf(client, name, table);
  if (state === 'valid') return;
  // The index build waits for every older transaction, and nothing waits for the build, so no lock timeout is needed.
  const { rows: timeouts } = await client.query<{ lock_timeout: string }>('show lock_timeout');
  await client.query('set lock_timeout = 0');
  // An invalid index left by an interrupted run is maintained by every write but used by no read.
  if (state === 'invalid') await client.query(`drop index concurrently ${name}`);
  await client.query(`create ${unique}index concurrently ${name} on ${table} ${rest}`);
  await client.query(`set lock_timeout = '${timeouts[0]?.lock_timeout ?? '0'}'`);
}

/** Returns the state of a named index. Throws if the name belongs to another table. */
async function stateOf(client: Asks, name: string, table: string): Promise<'absent' | 'invalid' | 'valid'> {
  const { rows } = await client.query<{ ours: boolean; valid: boolean }>(
    `select indrelid = to_regclass($2) as ours, indisvalid as valid from pg_index where indexrelid = to_regclass($1)`,
    [name, table],
  );
  const [index] = rows;
  if (!index) return 'absent';
  if (!index.ours) throw new Error(`The index ${name} of ${table} has the name of an index of another table.`);
  return index.valid ? 'valid' : 'invalid';
}

async function partitionsWithout(client: Asks, table: string, index: string) {
  const { rows } = await client.query<{ readonly name: string; readonly address: string }>(
    `select c.relname as name, c.oid::regclass::text as address
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1) and not exists (
       select from pg_inherits a join pg_index x on x.indexrelid = a.inhrelid
       where a.inhparent = to_regclass($2) and x.indrelid = i.inhrelid)
     order by 1`,
    [table, index],
  );
  return rows;
}
