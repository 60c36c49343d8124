import { fence, type Sql } from '@postrider/db';
import { jobsAhead } from '@postrider/queue';
import { isThere } from '../../delivery/index.ts';
import type { RecipientRow } from './log-store.ts';

const MAX_AHEAD = 10_000;
// Lower than MAX_AHEAD, whose count runs once per message; this count runs once per parked recipient.
const MAX_AHEAD_PARKED = 1000;

export interface Place {
  readonly ahead: number | null;
  readonly eta_seconds: number | null;
}

/**
 * Returns the queue positions of one message's recipients. Recipients in the queue share one position: the number of
 * ready jobs ahead, served by pg-boss's index of states. A parked recipient's position is the number of the workspace's
 * own messages of the same priority ahead in its lane, served by parked_deliveries_turn; no rate is recorded for a
 * lane.
 */
export async function placesInLine(
  sql: Sql,
  workspace_id: string,
  waiting: readonly Pick<RecipientRow, 'id' | 'job_id' | 'parked_lane'>[],
): Promise<Map<string, Place>> {
  const queued = waiting.filter((row) => row.parked_lane === null);
  const parked = waiting.filter((row) => row.parked_lane !== null);
  const [line, lanes] = await Promise.all([
    queuePlace(sql, queued[0]?.job_id ?? null),
    lanePlaces(sql, workspace_id, parked),
  ]);
  return new Map([...queued.map(({ id }) => [id, line] as const), ...lanes]);
}

async function queuePlace(sql: Sql, job_id: string | null): Promise<Place> {
  if (job_id === null) return { ahead: null, eta_seconds: null };
  const [row] = await sql<{ ahead: number; per_minute: number }[]>`
    select p.ahead,
      (select coalesce(sum(w.ended_per_minute), 0)::int from delivery_workers w where ${isThere(sql)}) as per_minute
    from (${jobsAhead(sql, sql`'delivery.attempt'`, job_id, MAX_AHEAD)}) p`;
  if (!row) return { ahead: null, eta_seconds: null };
  const { ahead, per_minute } = row;
  const has_estimate = per_minute > 0 && ahead < MAX_AHEAD;
  return { ahead, eta_seconds: has_estimate ? Math.ceil(((ahead + 1) * 60) / per_minute) : null };
}

async function lanePlaces(
  sql: Sql,
  workspace_id: string,
  parked: readonly Pick<RecipientRow, 'id' | 'job_id'>[],
): Promise<(readonly [string, Place])[]> {
  if (parked.length === 0) return [];
  const rows = await sql<{ id: string; ahead: number }[]>`
    select a.id, c.ahead
    from unnest(
      ${parked.map(({ id }) => id)}::uuid[],
      ${parked.map(({ job_id }) => job_id)}::uuid[]
    ) as a (id, job_id)
    cross join lateral (
      select x.lane, x.priority, x.due_at from parked_deliveries x where x.job_id = a.job_id ${fence}
    ) o
    cross join lateral (
      select count(*)::int as ahead from (
        select from parked_deliveries p
        where p.lane = o.lane and p.priority = o.priority and p.workspace_id = ${workspace_id} and p.due_at < o.due_at
        limit ${MAX_AHEAD_PARKED}
      ) p
    ) c`;
  return rows.map(({ id, ahead }) => [id, { ahead, eta_seconds: null }] as const);
}
