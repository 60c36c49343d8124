import { apart, type Fragment, listOf, type Sql, type Tx } from '@postrider/db';
import { idIn } from '../paging/keyset-store.ts';
import { ERASED_ADDRESS } from '../suppressions/index.ts';

/** An address in lower case, and the regular expression that finds it in a text regardless of case. */
export interface ErasureTarget {
  readonly workspace_id: string;
  readonly email: string;
  readonly pattern: string;
}

// About half a second of one database core.
const CAPTURE_SLICE_BYTES = 2 * 1024 * 1024;

const ERASED_DOMAIN = ERASED_ADDRESS.slice(ERASED_ADDRESS.indexOf('@') + 1);

/** Returns the SQL condition that a column's text contains the address. */
const holds = (sql: Sql | Tx, column: Fragment, { pattern }: ErasureTarget) => sql`(${column} ~* ${pattern}::text)`;

/** Returns SQL for a column's text with the address replaced by ERASED_ADDRESS. */
const without = (sql: Sql | Tx, column: Fragment, { pattern }: ErasureTarget) =>
  sql`regexp_replace(${column}, ${pattern}::text, ${ERASED_ADDRESS}::text, 'gi')`;

/**
 * Returns SQL for a list of addresses with names, in which each entry that contains the address is replaced as a whole.
 */
const withoutEntries = (sql: Sql | Tx, column: Fragment, target: ErasureTarget) => sql`array(
  select case when ${holds(sql, sql`u.entry`, target)} then ${ERASED_ADDRESS}::text else u.entry end
  from unnest(${column}) with ordinality u (entry, n) order by u.n)`;

const entriesHold = (sql: Sql | Tx, column: Fragment, target: ErasureTarget) => sql`exists (
  select from unnest(${column}) u (entry) where ${holds(sql, sql`u.entry`, target)})`;

export interface RecipientMatch {
  readonly message_id: string;
  readonly recipient_id: string;
  readonly state: string;
  /** Whether a worker is sending to the recipient now. */
  readonly leased: boolean;
}

/** Returns the next recipients with the address. Served by recipients_address. */
export async function nextRecipients(
  sql: Tx,
  { workspace_id, email }: ErasureTarget,
  after: string,
  count: number,
): Promise<RecipientMatch[]> {
  return sql<RecipientMatch[]>`
    select r.message_id, r.id as recipient_id, r.state, coalesce(r.lease_until > clock_now(), false) as leased
    from recipients r
    where ${listOf(sql, sql`r.workspace_id`, workspace_id)} and lower(r.email) = ${email} and r.email is not null
      and r.message_id > ${after}
    order by r.message_id limit ${count}`;
}

/** Locks recipients as a claim does, and returns those that no worker is handling. */
export async function lockFree(
  tx: Tx,
  { workspace_id }: ErasureTarget,
  recipients: readonly RecipientMatch[],
): Promise<RecipientMatch[]> {
  const ids = recipients.map(({ message_id }) => message_id);
  return tx<RecipientMatch[]>`
    select r.message_id, r.id as recipient_id, r.state, false as leased from recipients r
    where ${idIn(tx, tx`r.message_id`, ids)} and r.workspace_id = ${workspace_id}
      and r.id = any (${recipients.map(({ recipient_id }) => recipient_id)}::uuid[])
      and (r.lease_until is null or r.lease_until <= clock_now())
    order by r.message_id, r.id for no key update`;
}

export interface ErasedMail {
  readonly recipients: number;
  readonly messages: number;
  readonly bodies: number;
  readonly bodies_kept: number;
  readonly attempts: number;
  readonly transcripts: number;
  readonly events: number;
}

/** Erases recipients and their traces in messages; content that also went to others is kept. */
export async function eraseRecipients(
  tx: Tx,
  target: ErasureTarget,
  matches: readonly RecipientMatch[],
): Promise<ErasedMail> {
  const { workspace_id } = target;
  const ids = [...new Set(matches.map(({ message_id }) => message_id))];
  const recipient_ids = matches.map(({ recipient_id }) => recipient_id);
  const transcripts = await tx`
    delete from transcripts t using attempts a
    where ${idIn(tx, tx`t.message_id`, ids)} and t.workspace_id = ${workspace_id}
      and a.message_id = t.message_id and a.id = t.attempt_id and a.workspace_id = t.workspace_id
      and a.recipient_id = any (${recipient_ids}::uuid[])
    returning true as gone`;
  const attempts = await tx`
    update attempts a set reply_text = ${without(tx, tx`a.reply_text`, target)}, error = ${without(tx, tx`a.error`, target)}
    where ${idIn(tx, tx`a.message_id`, ids)} and a.workspace_id = ${workspace_id}
      and (${holds(tx, tx`a.reply_text`, target)} or ${holds(tx, tx`a.error`, target)})
    returning true as changed`;
  const recipients = await tx`
    update recipients r set email = ${ERASED_ADDRESS}, domain = ${ERASED_DOMAIN},
      last_response = ${without(tx, tx`r.last_response`, target)}
    where ${idIn(tx, tx`r.message_id`, ids)} and r.workspace_id = ${workspace_id}
      and r.id = any (${recipient_ids}::uuid[])
    returning true as changed`;
  const events = await tx`
    update events e set facts = ${without(tx, tx`e.facts`, target)}
    where e.message_id = any (${ids}::uuid[]) and ${apart(tx, tx`e.workspace_id`, workspace_id)}
      and ${holds(tx, tx`e.facts`, target)}
    returning true as changed`;
  const rows = await tx<{ id: string; alone: boolean }[]>`
    select m.id, not exists (
      select from recipients r
      where r.message_id = m.id and r.workspace_id = m.workspace_id and r.email <> ${ERASED_ADDRESS}
    ) as alone
    from messages m where m.workspace_id = ${workspace_id} and ${idIn(tx, tx`m.id`, ids)}`;
  const single = rows.filter((row) => row.alone).map(({ id }) => id);
  await eraseFromMessages(tx, target, ids);
  if (single.length > 0)
    await tx`
      update messages m set subject = '', metadata = '{}', content_deleted = true
      where m.workspace_id = ${workspace_id} and ${idIn(tx, tx`m.id`, single)}`;
  const bodies =
    single.length === 0
      ? []
      : await tx`
        delete from bodies b where b.workspace_id = ${workspace_id} and ${idIn(tx, tx`b.message_id`, single)}
        returning true as gone`;
  const [remaining] = await tx<{ count: number }[]>`
    select count(*)::int as count from bodies b
    where b.workspace_id = ${workspace_id} and ${idIn(tx, tx`b.message_id`, ids)}`;
  return {
    recipients: recipients.length,
    messages: rows.length,
    bodies: bodies.length,
    bodies_kept: remaining?.count ?? 0,
    attempts: attempts.length,
    transcripts: transcripts.length,
    events: events.length,
  };
}

/** Erases the address from the messages' own fields; returns how many contained it. */
async function eraseFromMessages(tx: Tx | Sql, target: ErasureTarget, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const rows = await tx`
    update messages m set
      to_addresses = ${withoutEntries(tx, tx`m.to_addresses`, target)},
      cc_addresses = ${withoutEntries(tx, tx`m.cc_addresses`, target)},
      bcc_addresses = ${withoutEntries(tx, tx`m.bcc_addresses`, target)},
      reply_to = case when ${holds(tx, tx`m.reply_to`, target)} then ${ERASED_ADDRESS} else m.reply_to end,
      subject = ${without(tx, tx`m.subject`, target)},
      metadata = ${without(tx, tx`m.metadata`, target)},
      tags = array(select u.tag from unnest(m.tags) with ordinality u (tag, n)
        where not ${holds(tx, tx`u.tag`, target)} order by u.n)
    where m.workspace_id = ${target.workspace_id} and ${idIn(tx, tx`m.id`, ids)}
      and (${holds(tx, tx`m.subject`, target)} or ${holds(tx, tx`m.metadata`, target)}
        or ${holds(tx, tx`m.reply_to`, target)} or ${entriesHold(tx, tx`m.to_addresses`, target)}
        or ${entriesHold(tx, tx`m.cc_addresses`, target)} or ${entriesHold(tx, tx`m.bcc_addresses`, target)}
        or ${entriesHold(tx, tx`m.tags`, target)})
    returning true as changed`;
  return rows.length;
}

export interface Slice {
  readonly changed: number;
  /** The last id examined; null at the end. */
  readonly position: string | null;
}

type Scan = (sql: Tx, target: ErasureTarget, after: string, count: number) => Promise<Slice>;

interface SliceRow {
  readonly changed: number;
  readonly examined: number;
  readonly edge: string | null;
}

const sliceOf = (count: number, row: SliceRow | undefined): Slice => ({
  changed: row?.changed ?? 0,
  position: row && row.examined >= count ? row.edge : null,
});

/** Scans the tables that grow with email by primary key, because no index covers the contents of texts. */
export const scans = {
  messages: async (sql, target, after, count) => {
    const rows = await sql<{ id: string }[]>`
      select m.id from messages m where m.workspace_id = ${target.workspace_id} and m.id > ${after}
      order by m.id limit ${count}`;
    const ids = rows.map(({ id }) => id);
    const changed = await eraseFromMessages(sql, target, ids);
    return { changed, position: ids.length >= count ? (ids.at(-1) ?? null) : null };
  },
  events: async (sql, target, after, count) => {
    const [row] = await sql<SliceRow[]>`
      with slice as materialized (
        select e.id from events e where e.workspace_id = ${target.workspace_id} and e.id > ${after}
        order by e.id limit ${count}
      ), changed as (
        update events e set facts = ${without(sql, sql`e.facts`, target)}
        where e.workspace_id = ${target.workspace_id} and e.id = any (array(select id from slice))
          and ${holds(sql, sql`e.facts`, target)}
        returning true as changed
      )
      select (select count(*)::int from changed) as changed, count(*)::int as examined, max(id) as edge from slice`;
    return sliceOf(count, row);
  },
  webhook_deliveries: async (sql, target, after, count) => {
    const [row] = await sql<SliceRow[]>`
      with slice as materialized (
        select d.id from webhook_deliveries d
        where ${listOf(sql, sql`d.workspace_id`, target.workspace_id)} and d.id > ${after} order by d.id limit ${count}
      ), changed as (
        update webhook_deliveries d set response_body = ${without(sql, sql`d.response_body`, target)},
          error = ${without(sql, sql`d.error`, target)}, sample = ${without(sql, sql`d.sample`, target)}
        where d.id = any (array(select id from slice)) and d.workspace_id = ${target.workspace_id}
          and (${holds(sql, sql`d.response_body`, target)} or ${holds(sql, sql`d.error`, target)}
            or ${holds(sql, sql`d.sample`, target)})
        returning true as changed
      ), tried as (
        update webhook_attempts a set response_body = ${without(sql, sql`a.response_body`, target)},
          error = ${without(sql, sql`a.error`, target)},
          request_headers = ${without(sql, sql`a.request_headers`, target)},
          response_headers = ${without(sql, sql`a.response_headers`, target)}
        where a.delivery_id = any (array(select id from slice)) and a.workspace_id = ${target.workspace_id}
          and (${holds(sql, sql`a.response_body`, target)} or ${holds(sql, sql`a.error`, target)}
            or ${holds(sql, sql`a.request_headers`, target)} or ${holds(sql, sql`a.response_headers`, target)})
        returning true as changed
      )
      select (select count(*)::int from changed) + (select count(*)::int from tried) as changed,
        count(*)::int as examined, max(id) as edge from slice`;
    return sliceOf(count, row);
  },
  captures: async (sql, target, after, count) => {
    const [row] = await sql<SliceRow[]>`
      with slice as materialized (
        select s.id from (
          select c.id, sum(c.size_bytes) over (order by c.id) - c.size_bytes as bytes_before from captures c
          where c.workspace_id = ${target.workspace_id} and c.id > ${after} order by c.id limit ${count}
        ) s
        where s.bytes_before < ${CAPTURE_SLICE_BYTES}
      ), changed as (
        delete from captures c
        where c.workspace_id = ${target.workspace_id} and c.id = any (array(select id from slice))
          and (${entriesHold(sql, sql`c.envelope_to`, target)} or ${holds(sql, sql`c.envelope_from`, target)}
            or ${holds(sql, sql`c.subject`, target)} or ${holds(sql, sql`encode(c.raw, 'escape')`, target)})
        returning true as changed
      )
      select (select count(*)::int from changed) as changed, count(*)::int as examined, max(id) as edge from slice`;
    // Only an empty slice marks the end, because the byte limit may have cut this one short.
    return sliceOf(1, row);
  },
  requests: async (sql, target, after, count) => {
    const [row] = await sql<SliceRow[]>`
      with slice as materialized (
        select q.id from requests q where q.workspace_id = ${target.workspace_id} and q.id > ${after}
        order by q.id limit ${count}
      ), changed as (
        delete from requests q
        where q.workspace_id = ${target.workspace_id} and q.id = any (array(select id from slice))
          and (${holds(sql, sql`q.path`, target)} or ${holds(sql, sql`q.message`, target)}
            or ${holds(sql, sql`q.details`, target)} or ${holds(sql, sql`q.body`, target)})
        returning true as changed
      )
      select (select count(*)::int from changed) as changed, count(*)::int as examined, max(id) as edge from slice`;
    return sliceOf(count, row);
  },
} as const satisfies Record<string, Scan>;

/** Deletes stored responses that contain the address; returns how many. */
export async function eraseAnswers(tx: Tx, target: ErasureTarget): Promise<number> {
  const rows = await tx`
    delete from idempotency_keys i
    where i.workspace_id = ${target.workspace_id}
      and (${holds(tx, tx`i.answer`, target)} or ${holds(tx, tx`i.key`, target)})
    returning true as gone`;
  return rows.length;
}

/**
 * Erases the address wherever else it may appear, such as tags, statistics and reasons; returns how many rows contained
 * it.
 */
export async function eraseElsewhere(tx: Tx, target: ErasureTarget): Promise<number> {
  const { workspace_id } = target;
  const tag_ids = await tx<{ id: number }[]>`
    select t.id from tags t where t.workspace_id = ${workspace_id} and ${holds(tx, tx`t.name`, target)}`;
  const ids = tag_ids.map(({ id }) => id);
  const countRows = (table: 'stat_minutes' | 'stat_hours' | 'stat_days') => tx`
    delete from ${tx(table)} s
    where s.workspace_id in (${workspace_id}, no_id()) and s.dimension = 'tag' and ${holds(tx, tx`s.key`, target)}
    returning true as changed`;
  const steps = [
    tx`delete from message_tags t where t.tag_id = any (${ids}::int[]) returning true as changed`,
    tx`delete from tags t where t.id = any (${ids}::int[]) returning true as changed`,
    countRows('stat_minutes'),
    countRows('stat_hours'),
    countRows('stat_days'),
    tx`delete from last_successes s where s.workspace_id in (${workspace_id}, no_id()) and ${holds(tx, tx`s.key`, target)}
      returning true as changed`,
    tx`update failure_groups g set sample = ${without(tx, tx`g.sample`, target)}, signature = ${without(tx, tx`g.signature`, target)}
      where g.workspace_id in (${workspace_id}, no_id())
        and (${holds(tx, tx`g.sample`, target)} or ${holds(tx, tx`g.signature`, target)})
      returning true as changed`,
    tx`update bulk_operations b set filter = ${without(tx, tx`b.filter`, target)}, reason = ${without(tx, tx`b.reason`, target)}
      where b.workspace_id = ${workspace_id}
        and (${holds(tx, tx`b.filter`, target)} or ${holds(tx, tx`b.reason`, target)})
      returning true as changed`,
    tx`update bulk_items i set line = ${without(tx, tx`i.line`, target)}
      from bulk_operations b
      where b.id = i.bulk_id and b.workspace_id = ${workspace_id} and i.line is not null and ${holds(tx, tx`i.line`, target)}
      returning true as changed`,
    tx`update suppressions s set reason = ${without(tx, tx`s.reason`, target)}
      where s.workspace_id = ${workspace_id} and ${holds(tx, tx`s.reason`, target)}
      returning true as changed`,
    tx`update holds h set reason = ${without(tx, tx`h.reason`, target)}
      where h.workspace_id = ${workspace_id} and ${holds(tx, tx`h.reason`, target)}
      returning true as changed`,
    // Of no workspace: no email has been matched with them.
    tx`update feedback_events f set facts = ${without(tx, tx`f.facts`, target)}
      where f.message_id is null and ${holds(tx, tx`f.facts`, target)}
      returning true as changed`,
    tx`update job_attempts j set error_message = ${without(tx, tx`j.error_message`, target)}
      where ${holds(tx, tx`j.error_message`, target)}
      returning true as changed`,
  ];
  let changed = 0;
  for (const step of steps) changed += (await step).length;
  return changed;
}
