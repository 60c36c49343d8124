import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { openAddress } from './address.ts';
import { answeringSockets } from './answering-socket.ts';
import { idOfUuid, uuidOfId } from './ids.ts';
import { sessionPlanning } from './planner.ts';
import { narrowed, type Sql, type Tx } from './sql.ts';

/**
 * int8 is read as a JS number: our counts, sizes and positions stay below 2^53. Postgres returns sums of int8 as
 * numeric, which arrives as text, so cast them (`sum(n)::int8`).
 *
 * An id is a uuid in the database and a prefixed string in the program. The server reports which parameters are uuids,
 * and each of our uuids encodes its kind, so this is the only place that translates between the two.
 */
const types = {
  uuid: { to: 2950, from: [2950], serialize: uuidOfId, parse: idOfUuid },
  int8: { to: 20, from: [20], serialize: (value: number) => String(value), parse: (text: string) => Number(text) },
};

export interface ConnectOptions {
  readonly max: number;
  readonly application_name: string;
  /** How long an idle connection stays open. */
  readonly idle_seconds?: number;
  /** How long Postgres may take to respond before the connection is closed. */
  readonly answer_ms?: number;
  readonly connect_ms?: number;
  readonly lock_ms?: number;
  readonly statement_ms?: number;
  readonly on_notice?: (message: string) => void;
  /** Called with the text of every statement, for tests that count them. */
  readonly on_statement?: (text: string) => void;
}

const STATEMENT_TIMEOUT_MS = 30_000;
// A process that hangs inside a transaction keeps its row locks. Waiters must not give up before this timeout releases
// them.
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 4000;
const LOCK_TIMEOUT_MS = 10_000;
// A statement that waits for a lock blocks the whole batch.
const LANE_LOCK_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 5000;
// A connection uses 5 to 15 MB in Postgres, and opening one takes about as long as a commit.
const IDLE_SECONDS = 20;
// The first message on a new lane connection waits until our longest statements are planned.
const IDLE_LANE_SECONDS = 60;
const KEEP_ALIVE_SECONDS = 15;

/** Creates a pool of at most `max` connections. Nothing connects before the first query. */
export function connect(address: string, options: ConnectOptions): Sql {
  requirePatchedDriver();
  const { url, ssl, password, pooled } = openAddress(address);
  let unconfirmed = 0;
  const sql = postgres(url, {
    max: options.max,
    ssl,
    ...(password && { password }),
    types,
    connect_timeout: (options.connect_ms ?? CONNECT_TIMEOUT_MS) / 1000,
    ...(options.answer_ms && { socket: answeringSockets(options.answer_ms) }),
    idle_timeout: options.idle_seconds ?? IDLE_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // The driver's default backoff grows to 20 s, longer than a request may wait during an outage.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    ...(options.on_statement && { debug: (_connection: number, text: string) => options.on_statement?.(text) }),
    onnotice(notice) {
      // Recognizes the warning by its routine: its SQLSTATE is 01000 after a cancel and 57P01 at shutdown, and its text
      // is in the server's language.
      if (notice.routine === 'SyncRepWaitForLSN') unconfirmed += 1;
      options.on_notice?.(notice.message ?? '');
    },
    ...sessionOf(pooled, {
      application_name: options.application_name,
      statement_timeout: options.statement_ms ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      lock_timeout: options.lock_ms ?? LOCK_TIMEOUT_MS,
      // A role or database may set this to error, which would hide the warning that no standby has a commit.
      client_min_messages: 'notice',
      // A role or database may turn this off, and a crash would then lose accepted emails.
      synchronous_commit: 'on',
      ...sessionPlanning,
      TimeZone: 'UTC',
    }),
  });
  return countingWaits(Object.assign(narrowed(sql), { unconfirmed: () => unconfirmed }));
}

/**
 * Returns the session settings. They are startup parameters, except through a pooler, which rejects most startup
 * parameters: there the settings are part of each connection's first query, in which the driver fetches array types.
 */
function sessionOf(
  pooled: boolean,
  settings: Readonly<Record<string, string | number>> & { readonly application_name: string },
): Pick<postgres.Options<Record<string, never>>, 'connection' | 'fetch_types'> {
  if (!pooled) return { connection: settings };
  const { application_name, ...others } = settings;
  const set = Object.entries(others).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  const first = `
    with session as materialized (select ${set.join(', ')})
    select b.oid, b.typarray
    from pg_catalog.pg_type a
    join pg_catalog.pg_type b on b.oid = a.typelem
    cross join session
    where a.typcategory = 'A'
    group by b.oid, b.typarray
    order by b.oid`;
  // The driver patch accepts a string here.
  return { connection: { application_name }, fetch_types: first as unknown as boolean };
}

/**
 * Counts the transactions that have not begun, because the driver does not report how many callers wait for a
 * connection.
 */
function countingWaits(sql: Omit<Sql, 'waiting'>): Sql {
  let waiting = 0;
  const begin = sql.begin;
  const counting = async <T>(first: string | ((tx: Tx) => Promise<T>), second?: (tx: Tx) => Promise<T>): Promise<T> => {
    const run = typeof first === 'function' ? first : second;
    if (run === undefined) throw new Error('begin needs what to run');
    let is_begun = false;
    const end = () => {
      if (!is_begun) waiting -= 1;
      is_begun = true;
    };
    const started = (tx: Tx) => {
      end();
      return run(tx);
    };
    waiting += 1;
    try {
      return await (typeof first === 'string' ? begin<T>(first, started) : begin<T>(started));
    } finally {
      end();
    }
  };
  return Object.assign(sql, { begin: counting, waiting: () => waiting }) as Sql;
}

/**
 * Creates single connections, each a pool of one. Statements that do not await each other are pipelined and run in the
 * order they were issued.
 */
export function connectSingly(
  url: string,
  count: number,
  options: Pick<ConnectOptions, 'application_name' | 'answer_ms' | 'connect_ms'>,
): Sql[] {
  return Array.from({ length: count }, () =>
    connect(url, { ...options, max: 1, idle_seconds: IDLE_LANE_SECONDS, lock_ms: LANE_LOCK_TIMEOUT_MS }),
  );
}

/**
 * Returns a Postgres text[] literal. Arrays of unequal length cannot be unnested as text[][], so they are sent as one
 * text[] of literals: `select id, tags::text[] from unnest(${ids}::uuid[], ${literals}::text[]) as t(id, tags)`.
 */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Returns the SQLSTATE of a Postgres error, such as 23505 for a unique violation. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null;
}

const MAX_DEADLOCKS = 3;
const DEADLOCK_PAUSE_MS = 20;

/**
 * Retries after a deadlock, which rolls back the whole transaction. The pause lets the winner take its lock: an
 * immediate retry would hit the same deadlock.
 */
export async function retryingDeadlock<T>(run: () => Promise<T>): Promise<T> {
  for (let deadlocks = 1; ; deadlocks++) {
    try {
      return await run();
    } catch (error) {
      if (sqlState(error) !== '40P01' || deadlocks > MAX_DEADLOCKS) throw error;
    }
    await setTimeout(DEADLOCK_PAUSE_MS * deadlocks);
  }
}

// Set by patches/postgres+3.4.9.patch in each build, and raised whenever a hunk changes.
const DRIVER_PATCH = 'postrider-3';

function requirePatchedDriver(): void {
  if ('patch' in postgres && postgres.patch === DRIVER_PATCH) return;
  throw new Error(
    'The postgres driver is unpatched: it can answer with wrong rows, or run statements inside the transaction of another caller. ' +
      'Run `node scripts/apply-patches.mjs`; npm does so after an install unless ignore-scripts is set.',
  );
}
