import type { Sql, Tx } from '@postrider/db';
import { idIn } from '../../paging/keyset-store.ts';

export interface WebhookAttemptRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly at: Date;
  readonly duration_ms: number | null;
  /** The headers as sent and as received, in JSON. */
  readonly request_headers: string | null;
  readonly response_status: number | null;
  readonly response_headers: string | null;
  readonly response_body: string | null;
  readonly error: string | null;
}

export interface EndedAttempt {
  readonly workspace_id: string;
  readonly id: string;
  readonly number: number;
  readonly duration_ms: number | null;
  readonly request_headers: string | null;
  readonly response_status: number | null;
  readonly response_headers: string | null;
  readonly response_body: string | null;
  readonly error: string | null;
}

/**
 * Stores attempts, in the transaction that records their results. A first attempt that succeeds is stored only on its
 * delivery.
 */
export async function keepAttempts(tx: Tx, attempts: readonly EndedAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await tx`
    insert into webhook_attempts (workspace_id, delivery_id, number, at, duration_ms, request_headers, response_status,
      response_headers, response_body, error)
    select a.workspace_id, a.id, a.number, clock_now(), a.duration_ms, a.request_headers, a.response_status,
      a.response_headers, a.response_body, a.error
    from unnest(
      ${attempts.map((one) => one.workspace_id)}::uuid[],
      ${attempts.map((one) => one.id)}::uuid[],
      ${attempts.map((one) => one.number)}::int[],
      ${attempts.map((one) => one.duration_ms)}::int[],
      ${attempts.map((one) => one.request_headers)}::text[],
      ${attempts.map((one) => one.response_status)}::int[],
      ${attempts.map((one) => one.response_headers)}::text[],
      ${attempts.map((one) => one.response_body)}::text[],
      ${attempts.map((one) => one.error)}::text[]
    ) as a (workspace_id, id, number, duration_ms, request_headers, response_status, response_headers, response_body, error)
    on conflict do nothing`;
}

/**
 * Stores the successful attempts that exist only on their deliveries, because those deliveries are about to restart.
 */
export async function keepDelivered(tx: Tx, workspace_id: string, ids: readonly string[]): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, delivery_id, number, at, duration_ms, response_status, response_body)
    select d.workspace_id, d.id, d.attempt_count, d.last_attempt_at, d.duration_ms, d.response_status, d.response_body
    from webhook_deliveries d
    where ${idIn(tx, tx`d.id`, ids)} and d.workspace_id = ${workspace_id} and d.state = 'delivered'
      and d.last_attempt_at is not null
    on conflict do nothing`;
}

/** Returns the newest stored attempts of each delivery, at most `max`, oldest first. Served by the primary key. */
export async function readAttemptsByDelivery(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
  max: number,
): Promise<WebhookAttemptRow[]> {
  return sql<WebhookAttemptRow[]>`
    select a.* from unnest(${[...ids]}::uuid[]) as d (id)
    cross join lateral (
      select x.delivery_id, x.number, x.at, x.duration_ms, x.request_headers, x.response_status, x.response_headers,
        x.response_body, x.error
      from webhook_attempts x where x.delivery_id = d.id and x.workspace_id = ${workspace_id}
      order by x.at desc, x.number desc limit ${max}
    ) a
    order by a.delivery_id, a.at, a.number`;
}
