import type { Sql, Tx } from '@postrider/db';
import { type CandidateRow, type Candidates, candidatesOf, type IdRange } from '../paging/candidate-pages.ts';

export interface RequestRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly api: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly api_key_id: string | null;
  readonly user_id: string | null;
  readonly duration_ms: number;
  readonly details: string;
  readonly body: string | null;
}

/**
 * A row whose key may be known only by its digest, because batched acceptance rejects a request without identifying its
 * key.
 */
export interface NewRequest extends RequestRow {
  readonly secret_hash: Buffer | null;
}

/** Stores requests under the workspace of their key, if it is known. */
export async function insertRequests(sql: Sql, requests: readonly NewRequest[]): Promise<void> {
  await sql`
    insert into requests (workspace_id, id, api, method, path, status, code, reason, message, api_key_id, user_id,
      duration_ms, details, body)
    select coalesce(nullif(r.workspace_id, no_id()), k.workspace_id, no_id()), r.id, r.api, r.method, r.path, r.status,
      r.code, r.reason, r.message, coalesce(r.api_key_id, k.id), r.user_id, r.duration_ms, r.details, r.body
    from unnest(
      ${requests.map((one) => one.workspace_id)}::uuid[],
      ${requests.map((one) => one.id)}::uuid[],
      ${requests.map((one) => one.api)}::text[],
      ${requests.map((one) => one.method)}::text[],
      ${requests.map((one) => one.path)}::text[],
      ${requests.map((one) => one.status)}::int[],
      ${requests.map((one) => one.code)}::text[],
      ${requests.map((one) => one.reason)}::text[],
      ${requests.map((one) => one.message)}::text[],
      ${requests.map((one) => one.api_key_id)}::uuid[],
      ${requests.map((one) => one.user_id)}::uuid[],
      ${requests.map((one) => one.duration_ms)}::int[],
      ${requests.map((one) => one.details)}::text[],
      ${requests.map((one) => one.body)}::text[],
      ${requests.map((one) => one.secret_hash?.toString('hex') ?? null)}::text[]
    ) as r (workspace_id, id, api, method, path, status, code, reason, message, api_key_id, user_id, duration_ms, details,
      body, secret)
    left join api_keys k on k.secret_hash = decode(r.secret, 'hex')
    on conflict do nothing`;
}

export interface RequestFilter {
  readonly reasons: readonly string[] | null;
  readonly api_key_id: string | null;
}

/** Returns requests in a range, newest first. Walks the primary key. */
export async function requestsAmong(
  sql: Sql,
  workspace_id: string,
  { reasons, api_key_id }: RequestFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<RequestRow>> {
  const rows = await sql<CandidateRow<RequestRow>[]>`
    with candidates as materialized (
      select * from requests r
      where r.workspace_id = ${workspace_id} and r.id >= ${range.from} and r.id < ${range.before}
      order by r.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge, f.*
    from (values (1)) as always
    left join lateral (
      select * from candidates c
      where ${reasons === null ? sql`true` : sql`c.reason = any (${[...reasons]}::text[])`}
        and (${api_key_id}::uuid is null or c.api_key_id = ${api_key_id})
      order by c.id desc limit ${limit}
    ) f on true
    order by f.id desc`;
  return candidatesOf<RequestRow>(rows);
}

export interface RequestGroupRow {
  readonly examined: number;
  readonly reason: string;
  readonly code: string;
  readonly status: number;
  readonly api: string;
  readonly method: string;
  readonly path: string;
  readonly count: number;
  readonly message: string;
  readonly last_id: string;
}

/** Groups the newest requests of a range by reason and route. Walks the primary key up to the maximum counted. */
export async function readRequestGroups(
  sql: Sql,
  workspace_id: string,
  range: IdRange,
  counted_rows: number,
  max: number,
): Promise<RequestGroupRow[]> {
  return sql<RequestGroupRow[]>`
    with newest as materialized (
      select id, api, method, path, status, code, reason from requests r
      where r.workspace_id = ${workspace_id} and r.id >= ${range.from} and r.id < ${range.before}
      order by r.id desc limit ${counted_rows}
    ), groups as (
      select reason, api, method, path, count(*)::int as count, max(id) as last_id from newest
      group by reason, api, method, path
      order by count(*) desc, max(id) desc limit ${max}
    )
    select (select count(*)::int from newest) as examined, g.reason, r.code, r.status, g.api, g.method, g.path, g.count,
      r.message, g.last_id
    from groups g join requests r on r.workspace_id = ${workspace_id} and r.id = g.last_id
    order by g.count desc, g.last_id desc`;
}

export async function requestOf(sql: Sql, workspace_id: string, id: string): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`select * from requests where workspace_id = ${workspace_id} and id = ${id}`;
  return row ?? null;
}

/** Returns the size of the log on disk. */
export async function requestBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::float8 as bytes
    from pg_inherits where inhparent = 'requests'::regclass`;
  return row?.bytes ?? 0;
}

/** Creates the partitions of the next days and drops expired ones. */
export async function tendRequestDays(sql: Sql | Tx, kept_days: number): Promise<void> {
  await sql`select tend_request_days(clock_now(), ${kept_days})`;
}
