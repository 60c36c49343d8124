import type { RoleName, Services } from '@postrider/core';
import { countWorkers } from '@postrider/core/delivery';
import { type HealthStatus, instanceStatus } from '@postrider/core/health';
import { type CommitWait, commitWait, pendingMigrations, schemaVersion, writability } from '@postrider/db';
import { type Handler, writeJson } from './http-server.ts';

const abilities: Record<RoleName, string> = {
  rest: 'can_accept',
  admin: 'can_serve',
  worker: 'can_deliver',
  inbound: 'can_receive',
};
/** How long a failure counts as recent. A worker that has polled for messages within this time can deliver. */
const RECENT_MS = 10_000;
/** The database is queried at most once in this time, regardless of the number of requests. */
const CHECK_EVERY_MS = 1000;
const JUDGE_EVERY_MS = 10_000;

interface Readiness {
  readonly database: 'ok' | 'read_only' | 'unreachable';
  /** The last migration that ran. */
  readonly schema: string | null;
  readonly migrations: string;
  readonly workers: number | null;
  /** The durability that a 202 guarantees: the message is also on a standby, or only on the disk of one server. */
  readonly commits_wait_for: CommitWait | null;
}

/**
 * Serves /healthz and /readyz. /healthz: the process is up. /readyz: the roles have started and can do their job. That
 * means the database responds and accepts writes, its migrations are current, the last test of storing a message
 * succeeded, and due messages are being fetched.
 */
export function createHealthHandler(services: Services, started: ReadonlySet<RoleName>): Handler {
  const readiness = sharedFor(CHECK_EVERY_MS, () => checkReadiness(services));
  const judgement = createJudgement(services);
  return async (request, response) => {
    if (request.url?.startsWith('/healthz')) return writeJson(response, 200, { status: 'ok' });
    const checks = await readiness();
    const ready_by_role = Object.fromEntries(
      services.config.ROLES.map((role) => [role, isReady(services, started, checks, role)]),
    );
    const roles = Object.fromEntries(
      services.config.ROLES.map((role) => [role, { [abilities[role]]: ready_by_role[role] === true }]),
    );
    const ready = checks.migrations === 'ok' && Object.values(ready_by_role).every((one) => one);
    writeJson(response, ready ? 200 : 503, {
      status: ready ? 'ready' : 'not_ready',
      ...checks,
      health: judgement(),
      roles,
    });
  };
}

function isReady(
  { vitals }: Services,
  started: ReadonlySet<RoleName>,
  { database }: Readiness,
  role: RoleName,
): boolean {
  if (!started.has(role) || database !== 'ok') return false;
  const isRecent = (at: number | null) => at !== null && performance.now() - at < RECENT_MS;
  if (role === 'rest') return !isRecent(vitals.accept_failed_at);
  return role !== 'worker' || isRecent(vitals.fetched_at);
}

/**
 * Returns a function that returns the last judgement of the instance and renews it in the background, because readiness
 * must not wait for it. Null until there is one, and after one has failed.
 */
function createJudgement(services: Services): () => HealthStatus | null {
  let last: HealthStatus | null = null;
  const renew = sharedFor(JUDGE_EVERY_MS, async () => {
    last = await instanceStatus(services).catch(() => null);
  });
  return () => {
    void renew();
    return last;
  };
}

/** Shares a pending or sufficiently recent result between callers. */
function sharedFor<T>(ms: number, check: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  let fresh_until = Number.POSITIVE_INFINITY;
  return () => {
    if (result !== null && performance.now() < fresh_until) return result;
    fresh_until = Number.POSITIVE_INFINITY;
    result = check().finally(() => {
      fresh_until = performance.now() + ms;
    });
    return result;
  };
}

async function checkReadiness(services: Services): Promise<Readiness> {
  try {
    const { sql } = services;
    const [pending, schema, writable, workers, commits_wait_for] = await Promise.all([
      pendingMigrations(sql),
      schemaVersion(sql),
      writability(sql),
      countWorkers(sql),
      commitWait(sql),
    ]);
    return {
      database: writable ? 'ok' : 'read_only',
      schema,
      migrations: pending.length === 0 ? 'ok' : `pending: ${pending.join(', ')}`,
      workers,
      commits_wait_for,
    };
  } catch {
    const unknown = { schema: null, workers: null, commits_wait_for: null };
    return { database: 'unreachable', migrations: 'unknown', ...unknown };
  }
}
