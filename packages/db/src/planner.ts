import postgres from 'postgres';
import { type Fragment, narrowed, type Sql, type Tx } from './sql.ts';

// All settings and idioms that steer the Postgres planner. docs/decisions/0014-plans-for-empty-tables.md lists the plan
// that each one prevents and the test that would catch it.

/**
 * Settings of every session. Statements find their rows by index from a few keys and are planned once. A plan made for
 * an empty table would scan or hash it, and stay in use as the table grows.
 */
export const sessionPlanning = {
  // JIT compilation takes longer than any of these statements.
  jit: 'off',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Uses generic plans from the first run, because planning over partitions takes longer than execution.
  plan_cache_mode: 'force_generic_plan',
} as const;

/**
 * Lets the planner choose joins by the actual values for the rest of the transaction. Meant for batch jobs and
 * aggregates, which read many rows. Uses custom plans, because a cached plan has the session's joins. `jit` stays off.
 */
export async function planNormally(tx: Tx): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '128MB', true),
    set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
    set_config('enable_mergejoin', 'on', true)`;
}

/** Runs a batch job in a transaction that is planned normally. */
export async function inBatch<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await planNormally(tx);
    return run(tx);
  });
}

// Never connects: a fragment without parameters is text, which can be embedded in a statement of any connection.
const pieces = narrowed(postgres({ max: 1 }));

/**
 * Ends a subquery that must run once for each outer row, using an index. Without it, the planner merges the subquery
 * into the outer query and may reorder the joins to start with the large table.
 */
export const fence: Fragment = pieces.unsafe('offset 0');

/**
 * Matches the rows of one owner through the index of a list, which begins with a hash of the owner. Lookups by primary
 * key cannot use that index, nor can a list use the primary key: on an empty table, both indexes look equally good to
 * the planner.
 */
export function listOf(sql: Sql | Tx, owner: Fragment, id: Fragment | string): Fragment {
  const value = typeof id === 'string' ? sql`${id}::uuid` : id;
  return sql`uuid_hash(${owner}) = uuid_hash(${value}) and ${apart(sql, owner, value)}`;
}

/** Builds an equality that no index can serve. */
export function apart(sql: Sql | Tx, column: Fragment, value: Fragment | string): Fragment {
  return sql`(${column} = ${value}) is true`;
}

/** Appended to a state column so that no full or partial index on it is used instead of the primary key. */
export const unindexed: Fragment = pieces.unsafe('::text');

const ARRAYS_FROM = 18;

/**
 * Returns whether an array compared with the second column of an index is guaranteed to be looked up in that index. If
 * the plan was made on an empty table, Postgres 15 may read every row that matches the first column and compare
 * afterwards.
 */
export function looksUpArrays({ parameters }: Pick<Sql | Tx, 'parameters'>): boolean {
  return Number.parseInt(parameters?.server_version ?? '0', 10) >= ARRAYS_FROM;
}

/**
 * Expresses equality with the first column of a primary key as a range. For an equality, the planner also considers
 * scanning the whole index in order, which on an empty table looks as cheap as a lookup per key. For a range it does
 * not.
 */
export function equalsByRange(sql: Sql | Tx, column: Fragment, value: Fragment): Fragment {
  return sql`${column} >= ${value} and ${column} <= ${value}`;
}

/**
 * Expresses equality with the first columns of a primary key so that no partition is pruned during execution. Used in
 * statements that also lock rows: if one of them has just changed, Postgres 18 evaluates the pruning of the statement's
 * other parts with freed memory. docs/decisions/0035-no-pruning-beside-row-locks.md
 */
export function equalsUnpruned(sql: Sql | Tx, columns: Fragment, values: Fragment): Fragment {
  return sql`(${columns}) >= (${values}) and (${columns}) <= (${values})`;
}

const ROUNDS = 5;

/**
 * Throws if connections through a pooler lack the settings that connect() made, or if the driver cannot apply them. A
 * single connection would find its settings even through an idle transaction pooler, which gives it the same database
 * connection each time, so two connections alternately set a value. Each is a pool of one.
 */
export async function requireSession(connections: readonly [Sql, Sql]): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const marks = connections.map((sql, index) => ({ sql, mark: `${round}.${index}` }));
    for (const { sql, mark } of marks) await sql`select set_config('postrider.session', ${mark}, false)`;
    // The order alternates, because a pooler that hands out its connections round-robin might otherwise give each
    // client its own.
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
