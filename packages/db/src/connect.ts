import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import postgres from 'postgres';

/**
 * int8 is read as a JS number: counts, sizes and positions of ours stay below 2^53. Sums of int8 are
 * numeric in Postgres and arrive as text, so cast them (`sum(n)::int8`).
 */
const types = {
  int8: { to: 20, from: [20], serialize: (value: number) => String(value), parse: (text: string) => Number(text) },
};
type Types = { int8: number };

export type Sql = postgres.Sql<Types>;
export type Tx = postgres.TransactionSql<Types>;
/** A piece of a statement, to be put into another. */
export type Fragment = postgres.Fragment;

export interface ConnectOptions {
  readonly max: number;
  readonly application_name: string;
  /** For so long a connection that nobody uses stays open. */
  readonly idle_seconds?: number;
  readonly on_notice?: (message: string) => void;
  /** Told the text of every statement that goes out, for tests that count them. */
  readonly on_statement?: (text: string) => void;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_SECONDS = 5;
// A connection holds 5 to 15 MB in Postgres, and opening one takes about as long as a commit.
const IDLE_SECONDS = 20;
// The first mail on a lane has the longest of our statements planned anew.
const IDLE_LANE_SECONDS = 60;
const KEEP_ALIVE_SECONDS = 15;

/** A pool of at most `max` connections; nothing connects before the first query. */
export function connect(url: string, options: ConnectOptions): Sql {
  requirePatchedDriver();
  return postgres(url, {
    max: options.max,
    types,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: options.idle_seconds ?? IDLE_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // The driver's own backoff grows to 20 s, longer than a caller may wait for an answer in an outage.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    ...(options.on_statement && { debug: (_connection: number, text: string) => options.on_statement?.(text) }),
    onnotice: (notice) => options.on_notice?.(notice.message ?? ''),
    connection: {
      application_name: options.application_name,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      // Compiling a plan takes longer than any statement of ours runs.
      jit: 'off',
      // Every statement of ours starts from a few keys and reaches its rows by an index. A plan made while a
      // table was empty would scan or hash it, and stay in use as the table grows.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      // One plan for each statement, from its first run on. Plans for the values at hand are no better, as all
      // start from keys, and over partitions planning takes longer than running.
      plan_cache_mode: 'force_generic_plan',
      TimeZone: 'UTC',
    },
  });
}

/**
 * Connections that are used one statement after another, each its own pool of one: statements that do not
 * wait for each other's answers travel together, and arrive in the order in which they were issued.
 */
export function connectLanes(url: string, count: number, application_name: string): Sql[] {
  return Array.from({ length: count }, () =>
    connect(url, { max: 1, application_name, idle_seconds: IDLE_LANE_SECONDS }),
  );
}

/**
 * A Postgres text[] literal. Arrays of unequal length cannot be unnested as text[][], so they travel
 * as one text[] of literals: `select id, tags::text[] from unnest(${ids}::text[], ${literals}::text[]) as t(id, tags)`.
 */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** The SQLSTATE of an error that Postgres answered with, such as 23505 for a unique violation. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null;
}

let driverIsPatched = false;
/** One mark of each kind of patch in scripts/patch-deps.mjs. */
const patchMarks = [
  { file: 'connection.js', mark: /function ErrorResponse\(x\) \{\s+rows = 0\b/ },
  { file: 'connection.js', mark: /result = new Result\(\)\s+if \(initial\)\s+return reconnect\(\)/ },
  { file: 'connection.js', mark: /return fetchArrayTypes\(\)\.catch/ },
  { file: 'index.js', mark: /if \(lost\) return q\.reject\(lost\)/ },
  { file: 'index.js', mark: /return go\(open\.pop\(\), query\)/ },
  { file: 'queue.js', mark: /pop: \(\) => \{/ },
  { file: 'query.js', mark: /this\.settling = \{ resolve, reject \}/ },
] as const;

function requirePatchedDriver(): void {
  if (driverIsPatched) return;
  const commonJs = dirname(createRequire(import.meta.url).resolve('postgres'));
  for (const directory of [commonJs, join(commonJs, '../../src')]) {
    for (const { file, mark } of patchMarks) {
      if (mark.test(readFileSync(join(directory, file), 'utf8'))) continue;
      throw new Error(
        'The postgres driver is unpatched: after a failed query or a lost connection it can answer with wrong rows. ' +
          'Run `node scripts/patch-deps.mjs`; npm does so after an install unless ignore-scripts is set.',
      );
    }
  }
  driverIsPatched = true;
}
