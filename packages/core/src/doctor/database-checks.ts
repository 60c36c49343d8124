import { pendingMigrations, type Sql } from '@postrider/db';
import { unopenedAlarmSecrets } from '../alarms/index.ts';
import { unopenedKeys } from '../domains/index.ts';
import type { ActorContext } from '../operation/context.ts';
import type { JobName } from '../process/jobs.ts';
import { program_name } from '../process/program.ts';
import { unopenedPasswords } from '../transports/index.ts';
import { unopenedSecrets } from '../webhooks/index.ts';
import { count, duration, type Finding, failing, ok, warning } from './finding.ts';
import {
  type DeadRows,
  deadRows,
  defaultRows,
  type OpenTransaction,
  oldestTransaction,
  type ServerSettings,
  serverSettings,
  type standing,
  type TransactionIdAge,
  transactionIdAge,
} from './store.ts';

const OLDEST_VERSION = 150_000;
const MIN_CONNECTIONS = 40;
const SKEW_SECONDS = { warning: 1, failing: 5 };
const LONG_WAIT_SECONDS = 300;
const OLD_TRANSACTION_SECONDS = { warning: 300, failing: 3600 };
// Postgres refuses writes when three million transaction ids are left before wraparound, at an age of about two
// billion.
const MAX_AGE = 1_500_000_000;
export const DELIVERY_JOB: JobName = 'delivery.attempt';

export async function checkMigrations(sql: Sql): Promise<Finding> {
  const pending = await pendingMigrations(sql);
  if (pending.length === 0) return ok('All migrations are applied.');
  return failing(`Pending migrations: ${pending.join(', ')}.`, `Run \`${program_name} migrate\`.`);
}

export async function checkSettings(sql: Sql): Promise<Finding> {
  return judgeSettings(await serverSettings(sql));
}

/** Checks the settings without which accepted emails may be lost in a crash, or the tables grow forever. */
export function judgeSettings({ version, encoding, settings }: ServerSettings): Finding {
  if (version < OLDEST_VERSION)
    return failing('The server is older than Postgres 15.', 'Upgrade to Postgres 15 or newer.');
  if (encoding !== 'UTF8')
    return failing(
      `The encoding of the database is ${encoding}.`,
      'Create it with `encoding UTF8` and restore into it.',
    );
  const disabled = ['fsync', 'full_page_writes', 'autovacuum'].flatMap(
    (name) => settings.find((one) => one.name === name && one.setting === 'off') ?? [],
  );
  if (disabled.length > 0) {
    const names = disabled.map(({ name }) => name).join(', ');
    return failing(`${names} ${disabled.length === 1 ? 'is' : 'are'} off.`, disabled.map(howToReset).join(' '));
  }
  const connections = Number(settings.find(({ name }) => name === 'max_connections')?.setting ?? 0);
  if (connections < MIN_CONNECTIONS) {
    return warning(
      `max_connections is ${connections}, and each process uses up to 17.`,
      `alter system set max_connections = 100; then restart Postgres.`,
    );
  }
  const standby = settings.some(({ name, setting }) => name === 'synchronous_standby_names' && setting !== '');
  const commits = `flushed commits that wait for ${standby ? 'a standby' : 'no standby'}`;
  return ok(`Postgres ${Math.floor(version / 10_000)}, ${commits}, autovacuum, ${connections} connections.`);
}

function howToReset({ name, source }: ServerSettings['settings'][number]): string {
  return source === 'command line'
    ? `Remove ${name} from the command that starts Postgres, and restart it.`
    : `alter system set ${name} = on; select pg_reload_conf();`;
}

export async function checkOldestTransaction(sql: Sql): Promise<Finding> {
  return judgeOldestTransaction(await oldestTransaction(sql));
}

export function judgeOldestTransaction(oldest: OpenTransaction | null): Finding {
  if (!oldest || oldest.seconds < OLD_TRANSACTION_SECONDS.warning) return ok('No long-running transactions.');
  const judge = oldest.seconds < OLD_TRANSACTION_SECONDS.failing ? warning : failing;
  return judge(
    `A transaction of ${oldest.name || 'a client'} has been open for ${duration(oldest.seconds)} and blocks vacuum.`,
    `End it: select pg_terminate_backend(${oldest.pid});`,
  );
}

export async function checkTransactionIds(sql: Sql): Promise<Finding> {
  return judgeTransactionIds(await transactionIdAge(sql));
}

export function judgeTransactionIds({ age, freeze_at, database }: TransactionIdAge): Finding {
  const fix = `Run \`vacuum (freeze)\` in the database ${database}. First end long-running transactions there.`;
  const summary = `The oldest transaction ID is ${Math.round(age / 1e6)} million old`;
  if (age > MAX_AGE) return failing(`${summary}. Postgres stops accepting writes at 2,000 million.`, fix);
  if (age > 2 * freeze_at) return warning(`${summary}, twice the autovacuum limit.`, fix);
  return ok(age < 1e6 ? 'Transaction IDs are recent.' : `${summary}.`);
}

export async function checkVacuum(sql: Sql): Promise<Finding> {
  return judgeVacuum(await deadRows(sql));
}

export function judgeVacuum(behind: readonly DeadRows[]): Finding {
  if (behind.length === 0) return ok('Vacuum is up to date.');
  const summary = behind.map(({ table, dead, live }) => `${table} (${dead} dead rows, ${live} live)`).join(', ');
  return warning(
    `Vacuum is behind on ${summary}.`,
    'End long-running transactions, then `vacuum` these tables. If this happens again, increase autovacuum_vacuum_cost_limit.',
  );
}

export async function checkDefaultRows(sql: Sql): Promise<Finding> {
  const strays = await defaultRows(sql);
  if (strays.length === 0) return ok('All rows are in their monthly partitions.');
  return warning(
    `Rows outside their monthly partitions: ${strays.map(({ parent, rows }) => `${parent} (${rows})`).join(', ')}.`,
    `Check the clock, then run the hourly job: \`${program_name} schedules run storage.maintain\`.`,
  );
}

export async function checkSecrets(ctx: Pick<ActorContext, 'sql' | 'encryption'>): Promise<Finding> {
  // One after another: the other checks need the connections too, even if a table is locked.
  const keys = await unopenedKeys(ctx);
  const passwords = await unopenedPasswords(ctx);
  const alarms = await unopenedAlarmSecrets(ctx);
  const endpoints = await unopenedSecrets(ctx);
  const secrets = [...endpoints, ...alarms];
  const all = [...keys, ...secrets, ...passwords];
  if (all.length === 0) return ok('SECRET_KEY decrypts all DKIM keys, webhook secrets and transport passwords.');
  const counts = [
    count(keys.length, 'DKIM key'),
    count(secrets.length, 'webhook secret'),
    count(passwords.length, 'transport password'),
  ];
  return failing(
    `SECRET_KEY cannot decrypt ${counts.join(', ')}: ${all.slice(0, 5).join(', ')}.`,
    'Set SECRET_KEY_PREVIOUS to the key that encrypted them, and restart every process.',
  );
}

type RollUpState = Awaited<ReturnType<typeof standing>>;

export function checkClock({ now }: RollUpState, asked_ms: number, answered_ms: number): Finding {
  // The database read its clock between asked_ms and answered_ms.
  const ahead_ms = Math.max(0, asked_ms - now.getTime(), now.getTime() - answered_ms);
  const seconds = ahead_ms / 1000;
  if (seconds < SKEW_SECONDS.warning) return ok('The process clock and the database clock agree.');
  const judge = seconds < SKEW_SECONDS.failing ? warning : failing;
  return judge(
    `The process clock and the database clock differ by ${seconds.toFixed(1)} s.`,
    'Synchronize both with NTP, for example with `timedatectl set-ntp true`.',
  );
}

export function checkWorkers({ workers, worker_seen }: RollUpState): Finding {
  if (workers > 0) return ok(`${count(workers, 'worker is', 'workers are')} live.`);
  const since = worker_seen ? `Last heartbeat: ${worker_seen.toISOString()}.` : 'No worker has ever run.';
  return failing(`No worker is running. ${since}`, 'Start a process with `worker` in ROLES.');
}

export function checkQueueAge({ oldest_ready_seconds, held }: RollUpState): Finding {
  if (held) return warning('The email queue is held.', `Release it: \`${program_name} queues release ${held}\`.`);
  if (oldest_ready_seconds === null || oldest_ready_seconds <= LONG_WAIT_SECONDS) return ok('No due email is waiting.');
  return failing(
    `Due email has been waiting for ${duration(oldest_ready_seconds)}.`,
    `Run \`${program_name} queues top\`. If no destination is throttled and nothing is held, start another worker.`,
  );
}
