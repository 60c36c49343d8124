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

export interface ConnectOptions {
  readonly max: number;
  readonly application_name: string;
  readonly on_notice?: (message: string) => void;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_SECONDS = 5;
const IDLE_SECONDS = 60;
const KEEP_ALIVE_SECONDS = 15;

/** A pool of at most `max` connections; nothing connects before the first query. */
export function connect(url: string, options: ConnectOptions): Sql {
  requirePatchedDriver();
  return postgres(url, {
    max: options.max,
    types,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // The driver's own backoff grows to 20 s, longer than a caller may wait for an answer in an outage.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: (notice) => options.on_notice?.(notice.message ?? ''),
    connection: {
      application_name: options.application_name,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
    },
  });
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

function requirePatchedDriver(): void {
  if (driverIsPatched) return;
  const commonJs = dirname(createRequire(import.meta.url).resolve('postgres'));
  for (const directory of [commonJs, join(commonJs, '../../src')]) {
    const source = readFileSync(join(directory, 'connection.js'), 'utf8');
    if (!/function ErrorResponse\(x\) \{\s+rows = 0\b/.test(source)) {
      throw new Error(
        'The postgres driver is unpatched: after a failed query it can answer the next one with wrong rows. ' +
          'Run `node scripts/patch-deps.mjs`; npm does so after an install unless ignore-scripts is set.',
      );
    }
  }
  driverIsPatched = true;
}
