import { type Fragment, fence, type Sql, type Tx } from '@postrider/db';
import type { EventType } from '../../events/index.ts';
import type { KeyMode } from '../../operation/secrets.ts';
import { isFailing } from './failing-store.ts';
import type { WebhookFormat } from './format.ts';
import type { StatusReason, WebhookStatus } from './status.ts';

export interface WebhookRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly mode: KeyMode;
  readonly format: WebhookFormat;
  readonly events: readonly string[] | null;
  readonly status: WebhookStatus;
  readonly status_reason: StatusReason | null;
  readonly secret_last4: string;
  readonly previous_secret_until: Date | null;
  readonly created_at: Date;
  readonly last_success_at: Date | null;
  /** The first failure since the last success, once the endpoint counts as failing. */
  readonly failing_since: Date | null;
  readonly paused_until: Date | null;
}

export interface NewWebhook {
  readonly workspace_id: string;
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly mode: KeyMode;
  readonly format: WebhookFormat;
  readonly events: readonly EventType[] | null;
  readonly secret: Buffer;
  readonly secret_last4: string;
}

/** Selects the public columns; an expired previous secret counts as absent. */
function columns(sql: Sql | Tx) {
  return sql`workspace_id, id, url, description, mode, format, events, status, status_reason, secret_last4,
    case when previous_secret_until > clock_now() then previous_secret_until end as previous_secret_until, created_at,
    last_success_at, case when status = 'enabled' and ${isFailing(sql, sql`failing_since`)} then failing_since end as failing_since,
    case when paused_until > clock_now() then paused_until end as paused_until`;
}

const ofMode = (sql: Sql | Tx, mode: KeyMode | null): Fragment => (mode === null ? sql`true` : sql`mode = ${mode}`);

export async function countWebhooks(tx: Tx, workspace_id: string, mode: KeyMode): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from webhooks where workspace_id = ${workspace_id} and mode = ${mode}`;
  return row?.count ?? 0;
}

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  const [row] = await tx<WebhookRow[]>`
    insert into webhooks (workspace_id, id, url, description, mode, format, events, secret, secret_last4, created_at)
    values (${webhook.workspace_id}, ${webhook.id}, ${webhook.url}, ${webhook.description}, ${webhook.mode}, ${webhook.format},
      ${webhook.events === null ? null : [...webhook.events]}::text[], ${webhook.secret}, ${webhook.secret_last4},
      clock_now())
    returning ${columns(tx)}`;
  if (!row) throw new Error('a webhook was inserted and not returned');
  return row;
}

/** Returns webhooks newest first. Served by the primary key. */
export async function readWebhookPage(
  sql: Sql,
  workspace_id: string,
  mode: KeyMode | null,
  cursor: string | null,
  count: number,
): Promise<WebhookRow[]> {
  return sql<WebhookRow[]>`
    select ${columns(sql)} from webhooks
    where workspace_id = ${workspace_id} and ${ofMode(sql, mode)} and (${cursor}::text is null or id < ${cursor})
    order by id desc limit ${count}`;
}

export async function webhookById(
  sql: Sql | Tx,
  workspace_id: string,
  mode: KeyMode | null,
  id: string,
): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`
    select ${columns(sql)} from webhooks where workspace_id = ${workspace_id} and id = ${id} and ${ofMode(sql, mode)}`;
  return row ?? null;
}

/** Returns the ids of a workspace's webhooks, optionally of one mode. Not paged, because their number is limited. */
export async function webhookIds(sql: Sql, workspace_id: string, mode: KeyMode | null): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from webhooks where workspace_id = ${workspace_id} and ${ofMode(sql, mode)} order by id`;
  return rows.map((row) => row.id);
}

export async function webhooksByIds(
  sql: Sql,
  workspace_id: string,
  mode: KeyMode | null,
  ids: readonly string[],
): Promise<WebhookRow[]> {
  return sql<WebhookRow[]>`
    select ${columns(sql)} from webhooks
    where workspace_id = ${workspace_id} and id = any (${[...ids]}::uuid[]) and ${ofMode(sql, mode)}`;
}

export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly events?: readonly EventType[] | null | undefined;
}

export async function changeWebhook(
  tx: Tx,
  workspace_id: string,
  id: string,
  { url, description, events }: WebhookChanges,
): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set
      url = coalesce(${url ?? null}, url),
      description = case when ${description !== undefined} then ${description ?? null} else description end,
      events = case when ${events !== undefined} then ${events ? [...events] : null}::text[] else events end
    where workspace_id = ${workspace_id} and id = ${id}
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Enables an endpoint and clears its failure record. Returns null if it is already enabled or deleted. */
export async function enableWebhook(tx: Tx, workspace_id: string, id: string): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set status = 'enabled', status_reason = null, failing_since = null, failure_count = 0,
      noticed_at = null, paused_until = null
    where workspace_id = ${workspace_id} and id = ${id} and status = 'disabled'
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Disables an endpoint; returns null if it is already disabled or deleted. */
export async function disableWebhook(
  tx: Tx,
  workspace_id: string,
  id: string,
  reason: StatusReason,
): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set status = 'disabled', status_reason = ${reason}
    where workspace_id = ${workspace_id} and id = ${id} and status = 'enabled'
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function deleteWebhookRow(
  tx: Tx,
  workspace_id: string,
  mode: KeyMode | null,
  id: string,
): Promise<boolean> {
  const deleted = await tx`
    delete from webhooks where workspace_id = ${workspace_id} and id = ${id} and ${ofMode(tx, mode)} returning id`;
  return deleted.length > 0;
}

/** Replaces the secret; the old and the new secret both sign until the old one expires. */
export async function replaceSecret(
  tx: Tx,
  workspace_id: string,
  mode: KeyMode | null,
  id: string,
  next: { readonly secret: Buffer; readonly secret_last4: string; readonly overlap_seconds: number },
): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set previous_secret = secret, secret = ${next.secret}, secret_last4 = ${next.secret_last4},
      previous_secret_until = clock_now() + make_interval(secs => ${next.overlap_seconds})
    where workspace_id = ${workspace_id} and id = ${id} and ${ofMode(tx, mode)}
    returning ${columns(tx)}`;
  return row ?? null;
}

/** The endpoint columns that a post needs. */
export interface Endpoint {
  readonly workspace_id: string;
  readonly id: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly secret: Buffer;
  /** null unless a rotation is in progress. */
  readonly previous_secret: Buffer | null;
}

export async function loadEndpoints(sql: Sql, ids: readonly string[]): Promise<Map<string, Endpoint>> {
  const rows = await sql<Endpoint[]>`
    select w.workspace_id, w.id, w.url, w.format, w.secret,
      case when w.previous_secret_until > clock_now() then w.previous_secret end as previous_secret
    from unnest(${ids}::uuid[]) as a (id)
    cross join lateral (select * from webhooks x where x.id = a.id and x.status = 'enabled' ${fence}) w`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the secrets of all endpoints, one page at a time by id. */
export async function readSecretPage(
  sql: Sql,
  after: string,
  max: number,
): Promise<Pick<Endpoint, 'id' | 'secret' | 'previous_secret'>[]> {
  return sql<Pick<Endpoint, 'id' | 'secret' | 'previous_secret'>[]>`
    select id, secret, case when previous_secret_until > clock_now() then previous_secret end as previous_secret
    from webhooks where id > ${after} order by id limit ${max}`;
}

/** The results of a batch for one endpoint. */
export interface EndpointNews {
  readonly workspace_id: string;
  readonly id: string;
  readonly succeeded: boolean;
  readonly failures: number;
  /** From Retry-After. */
  readonly wait_seconds: number;
}

export interface EndpointHealth {
  readonly workspace_id: string;
  readonly id: string;
  readonly failing_seconds: number;
  readonly noticed: boolean;
}

/**
 * Records the health of endpoints and returns the failing ones. One success clears the failure record; consecutive
 * failures pause the endpoint, longer each time, and never shorten a pause from Retry-After. Posts that fail together
 * lengthen the pause by one step at most, and failures recorded during a pause do not lengthen it. A success that changes
 * nothing else only updates the success time, at most once per minute. Rows are locked in id order, so that two workers
 * cannot deadlock.
 */
export async function recordHealth(
  tx: Tx,
  results: readonly EndpointNews[],
  pause: { readonly after: number; readonly first_seconds: number; readonly max_seconds: number },
): Promise<EndpointHealth[]> {
  return tx<EndpointHealth[]>`
    with news as materialized (
      select * from unnest(
        ${results.map((one) => one.id)}::uuid[],
        ${results.map((one) => String(one.succeeded))}::text[]::bool[],
        ${results.map((one) => one.failures)}::int[],
        ${results.map((one) => one.wait_seconds)}::float8[]
      ) as a (id, succeeded, failures, wait_seconds)
    ),
    locked as materialized (
      select w.workspace_id, w.id, n.succeeded, n.wait_seconds, p.is_paused,
        case when n.succeeded then 0 when p.is_paused then w.failure_count
          else least(w.failure_count + n.failures, greatest(w.failure_count + 1, ${pause.after})) end as failure_count
      from news n join webhooks w on w.id = n.id
      cross join lateral (select coalesce(w.paused_until > clock_now(), false) as is_paused) p
      where not n.succeeded or n.wait_seconds > 0 or w.failure_count > 0 or w.last_success_at is null
        or w.last_success_at < clock_now() - interval '1 minute'
      order by w.id for no key update of w
    )
    update webhooks w set
      last_success_at = case when l.succeeded then clock_now() else w.last_success_at end,
      failing_since = case when l.succeeded then null else coalesce(w.failing_since, clock_now()) end,
      failure_count = l.failure_count,
      noticed_at = case when l.succeeded then null else w.noticed_at end,
      paused_until = greatest(
        case when not l.succeeded then w.paused_until end,
        case when l.wait_seconds > 0 then clock_now() + make_interval(secs => l.wait_seconds) end,
        case when l.failure_count >= ${pause.after} and not l.is_paused
          then clock_now() + make_interval(secs => least(${pause.max_seconds}::float8,
            ${pause.first_seconds}::float8 * power(2, least(l.failure_count - ${pause.after}, 30)))) end)
    from locked l
    where w.workspace_id = l.workspace_id and w.id = l.id
    returning w.workspace_id, w.id, coalesce(extract(epoch from clock_now() - w.failing_since), 0)::float8 as failing_seconds,
      w.noticed_at is not null as noticed`;
}

/** Marks the notice as sent; returns null if it was already sent. */
export async function markNoticed(tx: Tx, workspace_id: string, id: string): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set noticed_at = clock_now()
    where workspace_id = ${workspace_id} and id = ${id} and status = 'enabled' and noticed_at is null
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Filters to endpoints that are disabled or deleted. */
export async function switchedOff(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from unnest(${ids}::uuid[]) as a (id)
    where not exists (select from webhooks w where w.id = a.id and w.status = 'enabled')`;
  return rows.map((row) => row.id);
}
