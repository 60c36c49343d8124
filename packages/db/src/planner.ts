import postgres from 'postgres';
import { type Fragment, narrowed, type Sql, type Tx } from './sql.ts';

// All settings and idioms that steer the planner of Postgres. docs/decisions/0014-plans-for-empty-tables.md has the
// plan that each prevents and the test that would catch it.

/**
 * Settings of every session. Statements reach their rows from a few keys by indexes and are planned once: a plan made
 * for an empty table would scan or hash it, and stay in use as the table grows.
 */
export const sessionPlanning = {
  // JIT compilation takes longer than any of these statements.
  jit: 'off',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Generic plans from the first run on: over partitions, planning takes longer than execution.
  plan_cache_mode: 'force_generic_plan',
} as const;

/**
 * For batch jobs and aggregates, which read many rows: until the end of the transaction the planner chooses joins by
 * the values. Custom plans, because a cached one has the joins of the session. `jit` stays off.
 */
export async function planNormally(tx: Tx): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '128MB', true),
    set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
    set_config('enable_mergejoin', 'on', true)`;
}

/** A transaction of a batch job, planned normally. */
export async function inBatch<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await planNormally(tx);
    return run(tx);
  });
}

// It never connects: a fragment without parameters is text, which fits into a statement of any connection.
const pieces = narrowed(postgres({ max: 1 }));

/**
 * Ends a subquery that must run for each outer row, by an index. Without it the planner merges it into the outer query
 * and may reorder the joins to begin with the large table.
 */
export const fence: Fragment = pieces.unsafe('offset 0');

/**
 * The rows of one owner by the index of a list, which begins with a hash of it. Lookups by primary key cannot use that
 * index, nor can a list use the primary key: on an empty table all of them look equally good.
 */
export function listOf(sql: Sql | Tx, owner: Fragment, id: Fragment | string): Fragment {
  const value = typeof id === 'string' ? sql`${id}::uuid` : id;
  return sql`uuid_hash(${owner}) = uuid_hash(${value}) and ${apart(sql, owner, value)}`;
}

/** Equality that no index serves. */
export function apart(sql: Sql | Tx, column: Fragment, value: Fragment | string): Fragment {
  return sql`(${column} = ${value}) is true`;
}

/** Follows a state column, so that no full or partial index on it is used instead of the primary key. */
export const unindexed: Fragment = pieces.unsafe('::text');

const ARRAYS_FROM = 18;

/**
 * Whether an array that is compared with the second column of an index is surely looked up in it. Postgres 15 may
 * compare the rows afterwards, once it has read all that the first column finds, if the plan was made on an empty table.
 */
export function looksUpArrays({ parameters }: Pick<Sql | Tx, 'parameters'>): boolean {
  return Number.parseInt(parameters?.server_version ?? '0', 10) >= ARRAYS_FROM;
}

/**
 * Equality with the first column of a primary key, as a range. For an equality the planner also considers a scan of the
 * whole index in order, which on an empty table looks as cheap as a lookup per key; for a range it does not.
 */
export function equalsByRange(sql: Sql | Tx, column: Fragment, value: Fragment): Fragment {
  return sql`${column} >= ${value} and ${column} <= ${value}`;
}

const ROUNDS = 5;

/**
 * Throws where connections through a pooler have not the settings that connect() made, or the driver cannot make them.
 * One connection alone finds its settings at an idle pooler of transactions too, which gives it the same connection of
 * the database each time; so two set a value of their own by turns. Each is a pool of one.
 */
export async function requireSession(connections: readonly [Sql, Sql]): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const marks = connections.map((sql, index) => ({ sql, mark: `${round}.${index}` }));
    for (const { sql, mark } of marks) await sql`select set_config('postrider.session', ${mark}, false)`;
    // By turns in the other order, or a pooler that gives its connections in turn might give each its own.
    const order = round % 2 === 0 ? marks : marks.toReversed();
    for (const { sql, mark } of order) if (!(await keepsSession(sql, mark))) throw notKept();
  }
}

async function keepsSession(sql: Sql, mark: string): Promise<boolean> {
  const [row] = await sql<{ mark: string | null; mode: string }[]>`
    select current_setting('postrider.session', true) as mark, current_setting('plan_cache_mode') as mode`;
  return row?.mark === mark && row.mode === sessionPlanning.plan_cache_mode;
}

function notKept(): Error {
  return new Error(
    'The pooler at DATABASE_URL does not keep the settings of a session, or the postgres driver lacks ' +
      'patches/postgres+3.4.9.patch. Set pool_mode = session, and run `node scripts/apply-patches.mjs`.',
  );
}
