import { listOf, type Sql } from '@postrider/db';
import { domainOf } from '@postrider/mail';

export interface MatchRow {
  readonly type: 'domain' | 'member' | 'api_key' | 'webhook' | 'destination' | 'tag';
  readonly id: string;
  readonly title: string;
  readonly detail: string | null;
  readonly at: Date | null;
}

/**
 * Finds the things in a workspace by part of their name. A workspace has at most a few hundred of each kind, except
 * destinations and tags, which this finds only by their full name.
 */
export async function namedThings(
  sql: Sql,
  workspace_id: string,
  text: string,
  kinds: readonly MatchRow['type'][],
  max: number,
): Promise<MatchRow[]> {
  const has = (kind: MatchRow['type']) => kinds.includes(kind);
  return sql<MatchRow[]>`
    (select 'domain' as type, id_text(id) as id, name as title, status as detail, created_at as at from domains
      where ${has('domain')} and workspace_id = ${workspace_id} and position(${text} in name) > 0
      order by name = ${text} desc, domains.id desc limit ${max})
    union all
    (select 'member', id_text(u.id), u.email, m.role, m.created_at from members m join users u on u.id = m.user_id
      where ${has('member')} and m.workspace_id = ${workspace_id} and position(${text} in u.email) > 0
      order by u.email limit ${max})
    union all
    (select 'api_key', id_text(id), name, last4, created_at from api_keys
      where ${has('api_key')} and workspace_id = ${workspace_id} and (position(${text} in lower(name)) > 0 or last4 = ${text})
      order by api_keys.id desc limit ${max})
    union all
    (select 'webhook', id_text(id), url, description, created_at from webhooks
      where ${has('webhook')} and workspace_id = ${workspace_id}
        and (position(${text} in lower(url)) > 0 or position(${text} in lower(coalesce(description, ''))) > 0)
      order by webhooks.id desc limit ${max})
    union all
    (select 'destination', destination, destination, null, changed_at from destination_limits
      where ${has('destination')} and destination = ${text})
    union all
    (select 'destination', lane, lane, reason, tended_at from lanes where ${has('destination')} and lane = ${text}
      and not exists (select from destination_limits where destination = ${text}))`;
}

/**
 * Returns destinations of the workspace's email that begin with a text, the busiest first. A day has a row for each of
 * its busiest destinations, so the primary key of stat_days serves this from a few thousand entries at most.
 */
export async function destinationsByPrefix(
  sql: Sql,
  workspace_id: string,
  prefix: string,
  { days, most: max }: { readonly days: number; readonly most: number },
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from stat_days
    where workspace_id = ${workspace_id} and dimension = 'destination'
      and at >= clock_now() - make_interval(days => ${days}) and starts_with(key, ${prefix})
    group by key order by key = ${prefix} desc, sum(accepted) desc, key limit ${max}`;
  return rows.map(({ key }) => key);
}

/** Returns whether a message of the workspace has this tag. Served by the primary key of message_tags. */
export async function isTag(sql: Sql, workspace_id: string, tag: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from message_tags where tag_id = (select id from tags where workspace_id = ${workspace_id} and name = ${tag})
    ) as found`;
  return row?.found ?? false;
}

/** Returns ids of the newest messages to or from an address. Served by recipients_address and messages_from_address. */
export async function findMailByAddress(sql: Sql, workspace_id: string, email: string, max: number): Promise<string[]> {
  const domain = domainOf(email);
  const rows = await sql<{ id: string }[]>`
    select distinct id from (
      (select r.message_id as id from recipients r
        where ${listOf(sql, sql`r.workspace_id`, workspace_id)} and lower(r.email) = lower(${email})
        order by r.message_id desc limit ${max})
      union all
      (select m.id from messages m
        where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.from_domain = ${domain}
          and lower(m.from_email) = lower(${email})
        order by m.id desc limit ${max})
    ) found
    order by id desc limit ${max}`;
  return rows.map(({ id }) => id);
}

/**
 * Searches the newest messages and returns the ids of those whose subject contains a text, ignoring case. No index
 * covers subjects.
 */
export async function mailBySubject(
  sql: Sql,
  workspace_id: string,
  text: string,
  { newest, most: max }: { readonly newest: number; readonly most: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with candidates as materialized (
      select m.id, m.subject from messages m where m.workspace_id = ${workspace_id} order by m.id desc limit ${newest}
    )
    select id from candidates where position(lower(${text}) in lower(subject)) > 0 order by id desc limit ${max}`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the messages of a request. Their ids are generated shortly after the request id, so the primary key serves
 * the search.
 */
export async function findMailByRequest(
  sql: Sql,
  workspace_id: string,
  request_id: string,
  { from, before }: { readonly from: string; readonly before: string },
  max: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select m.id from messages m
    where m.workspace_id = ${workspace_id} and m.id >= ${from} and m.id < ${before} and m.request_id = ${request_id}
    order by m.id limit ${max}`;
  return rows.map(({ id }) => id);
}
