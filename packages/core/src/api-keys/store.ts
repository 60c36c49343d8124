import { hexTexts, type Sql, type Tx } from '@postrider/db';
import type { Reason } from '../operation/errors.ts';
import type { Scope } from '../operation/scopes.ts';
import type { KeyMode } from '../operation/secrets.ts';
import {
  type BudgetLevel,
  type KeyPlaces,
  type KeyRateClass,
  QUERY_BUDGET,
  takePoints,
  type WindowCount,
} from '../usage/index.ts';
import { keyRefusalIn, keyStatusIn } from './validity-store.ts';

/** Requests with the same secret from the same address, counted together. */
export interface KeyQuery {
  readonly secret_hash: Buffer;
  readonly address: string;
  readonly wanted: number;
}

/** The facts about a sender that the accept path needs. */
export interface SenderFacts {
  readonly workspace_id: string;
  readonly key_id: string | null;
  readonly mode: KeyMode;
  readonly domains: readonly string[] | null;
  readonly plan: string;
  readonly recipient_cap: number;
  readonly monthly_limit: number | null;
}

export interface KeyMatch extends SenderFacts {
  readonly key_id: string;
  readonly scopes: readonly Scope[];
}

export type KeyResult =
  | { readonly kind: 'refused'; readonly reason: Reason }
  | {
      readonly kind: 'found';
      readonly key: KeyMatch;
      /** The window positions of the first request. */
      readonly first: KeyPlaces;
      /** Rate limit of the plan. */
      readonly workspace_rate: number | null;
      /** The cache epoch in which the key was read, and when it expires. */
      readonly epoch: number;
      readonly expires_at: Date | null;
    };

interface Row {
  ord: number;
  refusal: Reason | null;
  workspace_id: string;
  key_id: string;
  scopes: Scope[];
  mode: KeyMode;
  domains: string[] | null;
  plan: string;
  recipient_cap: number;
  monthly_limit: number | null;
  expires_at: Date | null;
  epoch: number;
  rate_limit: number;
  used_before: number;
  workspace_rate: number | null;
  workspace_used_before: number | null;
  reset_unix: number;
  seconds_left: number;
}

/**
 * Finds keys and counts their requests, for many secrets in one autocommitted round trip. Only valid keys are counted.
 * The window table is unlogged, so nothing waits for the disk, and a hot counter is locked only while the statement
 * runs. A request over its key's limit does not count in the window of the workspace. The rows of keys are locked
 * before those of workspaces, each group sorted, so that statements cannot deadlock. Results are in request order.
 */
export async function admitKeys(
  sql: Sql | Tx,
  rateClass: KeyRateClass,
  keys: readonly KeyQuery[],
): Promise<KeyResult[]> {
  const rows = await sql<Row[]>`
    with asked as (
      select decode(secret, 'hex') as secret_hash, address, wanted, ord from unnest(
        ${hexTexts(keys.map((ask) => ask.secret_hash))}::text[],
        ${keys.map((ask) => ask.address)}::inet[],
        ${keys.map((ask) => ask.wanted)}::int[]
      ) with ordinality as a (secret, address, wanted, ord)
    ),
    found as (
      select a.ord, a.wanted, k.workspace_id, k.id as key_id, k.scopes, k.mode, k.domains, k.expires_at,
        p.name as plan, p.recipient_cap, p.monthly_limit, p.workspace_rate,
        case ${rateClass}
          when 'send' then p.send_per_minute
          when 'logs' then case k.mode when 'sandbox' then p.sandbox_logs_per_minute else p.logs_per_minute end
          else case k.mode when 'sandbox' then p.sandbox_default_per_minute else p.default_per_minute end
        end as rate_limit,
        ${keyRefusalIn(sql, sql`a.address`)} as refusal
      from asked a
      join api_keys k on k.secret_hash = a.secret_hash
      join workspaces w on w.id = k.workspace_id
      join plans p on p.name = w.plan
    ),
    counted as (
      insert into rate_windows as r (subject, class, minute, used, wrote_at)
      select key_id, ${rateClass}, date_trunc('minute', clock_now()), sum(wanted),
        case when ${rateClass === 'send'} then clock_now() end
      from found where refusal is null group by key_id order by key_id
      on conflict (subject, class, minute) do update set used = r.used + excluded.used, wrote_at = excluded.wrote_at
      returning subject, used
    ),
    placed as (
      select f.*, coalesce(c.used, 0) - sum(f.wanted) over (partition by f.key_id, f.refusal order by f.ord
        rows between current row and unbounded following) as used_before
      from found f left join counted c on c.subject = f.key_id and f.refusal is null
    ),
    sharing as (
      select ord, workspace_id, greatest(0, least(wanted, rate_limit - used_before)) as wanted
      from placed where refusal is null and workspace_rate is not null
    ),
    shared as (
      insert into rate_windows as r (subject, class, minute, used)
      select workspace_id, 'workspace', date_trunc('minute', clock_now()), sum(wanted)
      from sharing group by workspace_id having sum(wanted) > 0 order by workspace_id
      on conflict (subject, class, minute) do update set used = r.used + excluded.used
      returning subject, used
    )
    select f.ord::int, f.refusal, f.workspace_id, f.key_id, f.scopes, f.mode, f.domains, f.plan, f.recipient_cap,
      f.monthly_limit, f.expires_at, f.rate_limit, (select value from accept_epoch) as epoch,
      f.used_before::int, f.workspace_rate,
      (w.used - sum(s.wanted) over (partition by f.workspace_id order by f.ord
        rows between current row and unbounded following))::int as workspace_used_before,
      extract(epoch from date_trunc('minute', clock_now()))::int + 60 as reset_unix,
      extract(epoch from date_trunc('minute', clock_now()) + interval '1 minute' - clock_now())::float8 as seconds_left
    from placed f left join sharing s on s.ord = f.ord left join shared w on w.subject = s.workspace_id`;
  const byPlace = new Map(rows.map((row) => [row.ord, row]));
  return keys.map((_, index) => {
    const row = byPlace.get(index + 1);
    if (!row) return { kind: 'refused', reason: 'unknown_key' };
    if (row.refusal) return { kind: 'refused', reason: row.refusal };
    const { workspace_id, key_id, scopes, mode, domains, plan, recipient_cap, monthly_limit, workspace_rate } = row;
    return {
      kind: 'found',
      key: { workspace_id, key_id, scopes, mode, domains, plan, recipient_cap, monthly_limit },
      first: {
        key: firstPlace(row, row.rate_limit, row.used_before),
        workspace: firstPlace(row, workspace_rate, row.workspace_used_before),
      },
      workspace_rate,
      epoch: row.epoch,
      expires_at: row.expires_at,
    };
  });
}

type WindowTimes = Pick<WindowCount, 'reset_unix' | 'seconds_left'>;

function firstPlace(times: WindowTimes, limit: number, used_before: number): WindowCount;
function firstPlace(times: WindowTimes, limit: number | null, used_before: number | null): WindowCount | null;
function firstPlace({ reset_unix, seconds_left }: WindowTimes, limit: number | null, used_before: number | null) {
  if (limit === null || used_before === null) return null;
  return { limit, place: used_before + 1, reset_unix, seconds_left };
}

/** Returns why a secret is not a valid key from this address now; null if it is. */
export async function refusalOf(
  sql: Sql | Tx,
  { secret_hash, address }: { readonly secret_hash: Buffer; readonly address: string },
): Promise<Reason | null> {
  const [row] = await sql<{ refusal: Reason | null }[]>`
    select ${keyRefusalIn(sql, sql`${address}::inet`)} as refusal from api_keys k where k.secret_hash = ${secret_hash}`;
  return row ? row.refusal : 'unknown_key';
}

/**
 * Returns why a key that was valid before is no longer valid from this address; null if it still is. A null address is
 * not compared.
 */
export async function keyRefusalFrom(sql: Sql, key_id: string, address: string | null): Promise<Reason | null> {
  const [row] = await sql<{ refusal: Reason | null }[]>`
    select ${keyRefusalIn(sql, sql`${address}::inet`)} as refusal from api_keys k where k.id = ${key_id}`;
  return row ? row.refusal : 'unknown_key';
}

interface SharedRow {
  workspace_rate: number | null;
  workspace_used_before: number | null;
}

export type IdentifiedKey = Pick<KeyMatch, 'workspace_id' | 'key_id' | 'scopes' | 'mode' | 'domains'>;

export interface Identification {
  readonly key: IdentifiedKey;
  readonly budget: BudgetLevel;
  /** Null if there is no limit, or if the points did not fit. */
  readonly workspace: WindowCount | null;
}

/**
 * Returns the key of a secret and its query budget after deducting points, or why it is not valid from this address. A
 * request whose points fit counts in the window of the workspace.
 */
export async function identifyKey(
  sql: Sql,
  { secret_hash, address }: { readonly secret_hash: Buffer; readonly address: string },
  points: number,
): Promise<Identification | Reason> {
  const [row] = await sql<(IdentifiedKey & BudgetLevel & WindowTimes & SharedRow & { refusal: Reason | null })[]>`
    with found as (
      select k.workspace_id, k.id as key_id, k.scopes, k.mode, k.domains, p.workspace_rate,
        ${keyRefusalIn(sql, sql`${address}::inet`)} as refusal
      from api_keys k join workspaces w on w.id = k.workspace_id join plans p on p.name = w.plan
      where k.secret_hash = ${secret_hash}
    ),
    counted as (
      ${takePoints(sql, QUERY_BUDGET, sql`select f.key_id, ${points}::float8 from found f where f.refusal is null`)}
    ),
    shared as (
      insert into rate_windows as r (subject, class, minute, used)
      select f.workspace_id, 'workspace', date_trunc('minute', clock_now()), 1
      from found f join counted c on c.taken where f.workspace_rate is not null
      on conflict (subject, class, minute) do update set used = r.used + excluded.used
      returning used
    )
    select f.*, c.level, c.taken, c.now, s.used - 1 as workspace_used_before,
      extract(epoch from date_trunc('minute', clock_now()))::int + 60 as reset_unix,
      extract(epoch from date_trunc('minute', clock_now()) + interval '1 minute' - clock_now())::float8 as seconds_left
    from found f left join counted c on true left join shared s on true`;
  if (!row) return 'unknown_key';
  if (row.refusal) return row.refusal;
  const { workspace_id, key_id, scopes, mode, domains, level, taken: budget_taken, now } = row;
  return {
    key: { workspace_id, key_id, scopes, mode, domains },
    budget: { level, taken: budget_taken, now },
    workspace: firstPlace(row, row.workspace_rate, row.workspace_used_before),
  };
}

/** Returns the sender facts of an actor that is already authenticated. */
export async function senderFacts(
  sql: Sql | Tx,
  actor: { readonly workspace_id: string; readonly key_id?: string },
): Promise<SenderFacts> {
  const [row] = await sql<SenderFacts[]>`
    select w.id as workspace_id, k.id as key_id, coalesce(k.mode, 'live') as mode, k.domains, p.name as plan,
      p.recipient_cap, p.monthly_limit
    from workspaces w
    join plans p on p.name = w.plan
    left join api_keys k on k.workspace_id = w.id and k.id = ${actor.key_id ?? null}
    where w.id = ${actor.workspace_id}`;
  if (!row) throw new Error('the workspace of an actor does not exist');
  return row;
}

/** Records when keys were last used, at most once a minute per key, off the accept path. */
export async function touchKeys(sql: Sql, key_ids: readonly string[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = clock_now()
    where id = any (${key_ids}::uuid[])
      and (last_used_at is null or last_used_at < clock_now() - interval '1 minute')`;
}

export interface KeyRow {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scopes: Scope[];
  mode: KeyMode;
  domains: string[] | null;
  allowed_ips: string[] | null;
  status: 'active' | 'revoked' | 'expired';
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
  replaced_by: string | null;
}

export interface NewKeyRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly name: string;
  readonly secret_hash: Buffer;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly mode: KeyMode;
  readonly domains: readonly string[] | null;
  readonly allowed_ips: readonly string[] | null;
  readonly expires_at: Date | null;
}

const keyColumns = (sql: Sql | Tx) => sql`
  id, name, prefix, last4, scopes, mode, domains, allowed_ips::text[] as allowed_ips, created_at, expires_at,
  last_used_at, revoked_at, replaced_by,
  ${keyStatusIn(sql)} as status`;

/** Serializes key creation in a workspace, so that counts are exact. */
export async function lockKeyCount(tx: Tx, workspace_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`api keys of ${workspace_id}`}, 0))`;
}

/** Counts the active keys that have been replaced, or those that have not. Served by api_keys_active. */
export async function countActiveKeys(
  tx: Tx,
  workspace_id: string,
  mode: KeyMode,
  kind: 'lasting' | 'replaced',
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from api_keys
    where workspace_id = ${workspace_id} and mode = ${mode} and revoked_at is null
      and coalesce(expires_at, 'infinity') > clock_now() and (replaced_by is not null) = ${kind === 'replaced'}`;
  return row?.count ?? 0;
}

/** Stores a key; returns null if the same secret is already stored. */
export async function insertKey(sql: Sql | Tx, key: NewKeyRow): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    insert into api_keys as k (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, domains, allowed_ips,
      created_at, expires_at)
    values (${key.workspace_id}, ${key.id}, ${key.name}, ${key.secret_hash}, ${key.prefix}, ${key.last4},
      ${key.scopes}::text[], ${key.mode}, ${key.domains}::text[], ${key.allowed_ips}::text[]::cidr[],
      clock_now(), ${key.expires_at})
    on conflict (secret_hash) do nothing
    returning ${keyColumns(sql)}`;
  return row ?? null;
}

const ofMode = (sql: Sql | Tx, mode: KeyMode | null) => (mode === null ? sql`true` : sql`mode = ${mode}`);

/** Revokes a key; returns null if it is already revoked or not in the workspace. */
export async function revokeKeyRow(
  sql: Sql | Tx,
  workspace_id: string,
  mode: KeyMode | null,
  id: string,
): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    update api_keys k set revoked_at = clock_now()
    where workspace_id = ${workspace_id} and id = ${id} and revoked_at is null and ${ofMode(sql, mode)}
    returning ${keyColumns(sql)}`;
  return row ?? null;
}

/** Returns the key, locked until the commit. */
export async function lockKey(tx: Tx, workspace_id: string, id: string): Promise<KeyRow | null> {
  const [row] = await tx<KeyRow[]>`
    select ${keyColumns(tx)} from api_keys k where workspace_id = ${workspace_id} and id = ${id} for update`;
  return row ?? null;
}

/** Shortens the life of a replaced key; a key that expires sooner is unchanged. */
export async function replaceKeyRow(
  tx: Tx,
  workspace_id: string,
  id: string,
  successor: { readonly id: string; readonly overlap_seconds: number },
): Promise<KeyRow> {
  const [row] = await tx<KeyRow[]>`
    update api_keys k set replaced_by = ${successor.id},
      expires_at = least(expires_at, clock_now() + make_interval(secs => ${successor.overlap_seconds}))
    where workspace_id = ${workspace_id} and id = ${id}
    returning ${keyColumns(tx)}`;
  if (!row) throw new Error('a locked key no longer exists');
  return row;
}

export async function keyById(
  sql: Sql | Tx,
  workspace_id: string,
  mode: KeyMode | null,
  id: string,
): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    select ${keyColumns(sql)} from api_keys k
    where workspace_id = ${workspace_id} and id = ${id} and ${ofMode(sql, mode)}`;
  return row ?? null;
}

export async function keysByIds(
  sql: Sql | Tx,
  workspace_id: string,
  mode: KeyMode | null,
  ids: readonly string[],
): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select ${keyColumns(sql)} from api_keys k
    where workspace_id = ${workspace_id} and id = any (${[...ids]}::uuid[]) and ${ofMode(sql, mode)}`;
}

/** Returns a keyset page, newest first, with one extra row that shows whether there is a next page. */
export async function readKeyPage(
  sql: Sql | Tx,
  workspace_id: string,
  { mode, statuses }: { readonly mode: KeyMode | null; readonly statuses: readonly string[] | null },
  before: string | null,
  count: number,
): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select ${keyColumns(sql)} from api_keys k
    where workspace_id = ${workspace_id} and (${before}::text is null or id < ${before}) and ${ofMode(sql, mode)}
      and ${statuses === null ? sql`true` : sql`${keyStatusIn(sql)} = any (${[...statuses]}::text[])`}
    order by id desc limit ${count}`;
}

/** Returns whether a new key would outlive its creator or allow addresses that its creator does not. */
export async function accessBeyond(
  sql: Sql | Tx,
  maker: { readonly workspace_id: string; readonly key_id: string },
  fields: Pick<NewKeyRow, 'allowed_ips' | 'expires_at'>,
): Promise<{ readonly later: boolean; readonly elsewhere: boolean }> {
  const [row] = await sql<{ later: boolean; elsewhere: boolean }[]>`
    select coalesce(k.expires_at < coalesce(${fields.expires_at}::timestamptz, 'infinity'), false) as later,
      k.allowed_ips is not null and (${fields.allowed_ips}::text[] is null or exists (
        select from unnest(${fields.allowed_ips}::text[]::cidr[]) as w (network)
        where not exists (select from unnest(k.allowed_ips) as own (network) where w.network <<= own.network)
      )) as elsewhere
    from api_keys k where k.workspace_id = ${maker.workspace_id} and k.id = ${maker.key_id}`;
  return row ?? { later: true, elsewhere: true };
}

export interface PlanFacts {
  plan: string;
  monthly_emails: number | null;
  recipients_per_request: number;
  send_per_minute: number;
  logs_per_minute: number;
  default_per_minute: number;
}

/** Returns the plan with the rates of a key in this mode. */
export async function planOf(sql: Sql | Tx, workspace_id: string, mode: 'live' | 'sandbox'): Promise<PlanFacts> {
  const [row] = await sql<PlanFacts[]>`
    select p.name as plan, p.monthly_limit as monthly_emails, p.recipient_cap as recipients_per_request,
      p.send_per_minute,
      case ${mode} when 'sandbox' then p.sandbox_logs_per_minute else p.logs_per_minute end as logs_per_minute,
      case ${mode} when 'sandbox' then p.sandbox_default_per_minute else p.default_per_minute end as default_per_minute
    from workspaces w join plans p on p.name = w.plan
    where w.id = ${workspace_id}`;
  if (!row) throw new Error('the workspace of an actor does not exist');
  return row;
}

/** Returns the workspace of a valid secret, or why it is not accepted from this address. */
export async function readKeyWorkspace(
  sql: Sql,
  { secret_hash, address }: { readonly secret_hash: Buffer; readonly address: string },
): Promise<{ readonly workspace_id: string; readonly scopes: readonly Scope[] } | Reason> {
  const [row] = await sql<{ workspace_id: string; scopes: Scope[]; refusal: Reason | null }[]>`
    select k.workspace_id, k.scopes, ${keyRefusalIn(sql, sql`${address}::inet`)} as refusal
    from api_keys k where k.secret_hash = ${secret_hash}`;
  if (!row) return 'unknown_key';
  return row.refusal ?? { workspace_id: row.workspace_id, scopes: row.scopes };
}
