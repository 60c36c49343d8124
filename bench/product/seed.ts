import { connect, type Fragment, type Sql, type Tx } from '@postrider/db';

// node bench/seed.ts [messages] seeds the migrated database at DATABASE_URL; the benchmarks call seedMessages.

const DAYS = 60;

/** Rare and common values in the seeded rows, for benchmarks to query. */
export const seeded = {
  common_sender: 'app@mail.example.com',
  rare_sender: 'ceo@rare.example.org',
  rare_domain: 'rare.example.org',
  crowded_domain: 'users.example.net',
  common_recipient: 'ops@example.org',
  common_tag: 'receipt',
  rare_tag: 'recall',
  // Rare values have a fixed total, however many messages there are: pages at random positions are equally full in
  // small and large data sets, so their times are comparable.
  complained: 250,
  failed: 2000,
  recalls: 500,
  from_rare_sender: 1250,
} as const;

/**
 * Inserts messages of the last 60 days with recipients, tags and events, one statement per table. Ids grow with time as
 * the service's do; the first workspaces have most of the messages, nine in ten messages are delivered, one in ten is
 * tagged.
 */
export async function seedMessages(sql: Sql, count: number, workspace_ids: readonly string[]): Promise<void> {
  const oneIn = (number: number) => Math.floor(count / number) + 1;
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local synchronous_commit = off`;
    await tx`select ensure_all_partitions(now() - make_interval(days => days)) from unnest('{0, 30, 60}'::int[]) as d (days)`;
    await tx`
      create temporary table seed on commit drop as
      select workspace_id, stem as id, stem, at, status::delivery_state, from_email, tags, kinds,
        case when dice = 7 then ${seeded.common_recipient} else 'u' || (random() * ${count / 4})::int || '@example.com' end as email
      from (
        select
          (${[...workspace_ids]}::uuid[])[1 + floor(power(random(), 3) * ${workspace_ids.length})::int] as workspace_id,
          derived_id('msg', id_floor(t.at), i::text) as stem,
          t.at,
          case when i % ${oneIn(seeded.complained)}::int = 0 then 'complained' when i % 5003 = 0 then 'scheduled' when i % ${oneIn(seeded.failed)}::int = 0 then 'failed'
            when i % 503 = 0 then 'queued' when i % 211 = 0 then 'canceled' when i % 101 = 0 then 'suppressed'
            when i % 67 = 0 then 'deferred' when i % 29 = 0 then 'bounced' else 'delivered' end as status,
          case when i % ${oneIn(seeded.from_rare_sender)}::int = 0 then ${seeded.rare_sender} when i % 59 = 0 then 'u' || i % 5000 || ${`@${seeded.crowded_domain}`}
            when i % 13 = 0 then 'news@mail.example.com' else ${seeded.common_sender} end as from_email,
          case when i % ${oneIn(seeded.recalls)}::int = 0 then array[${seeded.common_tag}, ${seeded.rare_tag}]
            when i % 50 = 3 then array['shop', ${seeded.common_tag}]
            when i % 12 = 5 then array[${seeded.common_tag}] else '{}' end as tags,
          case when i % 20 = 0 then '{to,cc,bcc}'::recipient_kind[] else '{to}'::recipient_kind[] end as kinds,
          i % 100 as dice
        from generate_series(1, ${count}::int) as i
        cross join lateral (
          select now() - make_interval(days => ${DAYS}) + make_interval(secs => i * ${(DAYS * 86_400) / count}::float8) as at
        ) t
      ) s
      order by stem`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, scheduled_at,
        sent_at, delivered_at, event_count, last_event_type, last_event_at)
      select workspace_id, id, status, 'live', 'The shop <' || from_email || '>', from_email,
        split_part(from_email, '@', 2), array[email], '{}', '{}', 'Your receipt for order ' || stem, tags, '{}',
        cardinality(kinds), derived_id('req', stem, ''), at, case when status = 'scheduled' then now() + interval '9 days' end,
        case when status not in ('scheduled', 'queued') then at end, case when status = 'delivered' then at end, 2,
        'email.' || status::text, at
      from seed order by stem`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, attempt_count, last_response)
      select workspace_id, id, derived_id('rcp', stem, place::text), case when place > 1 then kind::text || place || '.' else '' end || email,
        split_part(email, '@', 2), kind, status, case when status = 'scheduled' then now() + interval '9 days' else at end,
        1, '250 2.0.0 queued'
      from seed cross join lateral unnest(kinds) with ordinality as k (kind, place)
      order by stem`;
    await tx`
      insert into message_tags (tag_id, message_id)
      select intern_tag(workspace_id, tag), id from seed cross join lateral unnest(tags) as t (tag) order by stem`;
    await tx`
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, derived_id('evt', stem, sequence::text),
        case when sequence = 1 then 'email.queued' when status in ('queued', 'scheduled') then 'email.scheduled'
          when status = 'deferred' then 'email.delivery_delayed' else 'email.' || status::text end,
        id, case when sequence = 2 then derived_id('rcp', stem, '1') end, sequence, '{}', at
      from seed cross join generate_series(1, 2) as sequence
      order by stem, sequence`;
  });
}

/** Replies of slow or rejecting destinations; the numbers and names in them vary by message. */
const REPLIES = [
  '421 4.7.0 Try again later, closing connection. ID-# - gsmtp',
  '451 4.7.1 <u#@example.com>: Recipient address rejected: Greylisted for # seconds',
  '450 4.2.1 The user you are trying to contact is receiving mail too quickly # - gsmtp',
  '421 RP-001 The mail server 192.0.2.# has exceeded the rate limit',
  '452 4.2.2 Mailbox full, quota # MB',
  'connect ECONNREFUSED 192.0.2.#:25',
  'no connection in # ms',
];

/**
 * Adds pending messages of the last twelve hours, with a job per recipient: two in three are deferred by one of about
 * 2,000 destinations and wait for a retry, the others are queued. `insertJobs` returns the statement that inserts the
 * jobs of the given rows.
 */
export async function seedOpen(
  sql: Sql,
  count: number,
  workspace_ids: readonly string[],
  insertJobs: (tx: Tx, source: Fragment) => Fragment,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local synchronous_commit = off`;
    await tx`
      create temporary table seed on commit drop as
      select (${[...workspace_ids]}::uuid[])[1 + floor(power(random(), 3) * ${workspace_ids.length})::int] as workspace_id,
        stem as id, stem, at, gen_random_uuid() as job_id,
        case when i % 3 = 0 then 'queued' else 'deferred' end::delivery_state as status,
        'app@mail' || i % 40 || '.example.com' as from_email,
        case when i % 4 = 0 then array['receipt'] when i % 4 = 1 then array['shop', 'tag' || i % 300] else '{}' end as tags,
        case when dice < 30 then 'gmail.com' when dice < 50 then 'outlook.com' when dice < 60 then 'yahoo.com'
          when dice < 65 then 'web.de' else 'destination' || floor(power(random(), 2) * 2000)::int || '.example.net' end as domain,
        replace((${REPLIES}::text[])[1 + i % ${REPLIES.length}], '#', (i % 977)::text) as reply, i
      from (
        select i, (random() * 100)::int as dice, t.at, derived_id('msg', id_floor(t.at), 'open' || i) as stem
        from generate_series(1, ${count}::int) as i
        cross join lateral (select now() - (1 - i::float8 / ${count}) * interval '12 hours' as at) t
      ) s
      order by stem`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, api_key_id, request_id, created_at,
        event_count, last_event_type, last_event_at)
      select workspace_id, id, status, 'live', from_email, from_email, split_part(from_email, '@', 2), array['u' || i || '@' || domain],
        '{}', '{}', 'Your receipt', tags, '{}', 1, derived_id('key', no_id(), (i % 7)::text), derived_id('req', stem, ''), at, 2, 'email.' || status::text, at
      from seed order by stem`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id, attempt_count,
        first_attempt_at, last_response)
      select workspace_id, id, derived_id('rcp', stem, '1'), 'u' || i || '@' || domain, domain, 'to', status,
        case when status = 'deferred' then now() + random() * interval '1 hour' else at end, job_id,
        case when status = 'deferred' then 2 else 0 end, case when status = 'deferred' then at end,
        case when status = 'deferred' then reply end
      from seed order by stem`;
    await tx`
      insert into message_tags (tag_id, message_id)
      select intern_tag(workspace_id, tag), id from seed cross join lateral unnest(tags) as t (tag) order by stem`;
    await tx`
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, derived_id('evt', stem, sequence::text),
        case when sequence = 1 then 'email.queued' else 'email.delivery_delayed' end,
        id, case when sequence = 2 then derived_id('rcp', stem, '1') end, sequence,
        case when sequence = 1 then '{}' else json_build_object('attempt', 1, 'response', reply)::text end, at
      from seed cross join generate_series(1, 2) as sequence
      where sequence = 1 or status = 'deferred'
      order by stem, sequence`;
    await insertJobs(
      tx,
      tx`
        select job_id as id, jsonb_build_object('workspace_id', workspace_id, 'message_id', id,
          'recipient_id', derived_id('rcp', stem, '1')) as data,
          case when status = 'deferred' then now() + random() * interval '1 hour' end as start_after, 0 as priority
        from seed order by stem`,
    );
    // A single statement gives all jobs the same creation time, so spread their times like those of their messages.
    await tx`
      update pgboss.job j set created_on = s.at, start_after = case when s.status = 'deferred' then j.start_after else s.at end
      from seed s where j.name = 'delivery.attempt' and j.id = s.job_id`;
  });
}

export async function workspaceIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from workspaces order by created_at, id`;
  return rows.map((row) => row.id);
}

if (import.meta.main) {
  const url = process.env.DATABASE_URL;
  if (!url) throw new Error('DATABASE_URL names the database to fill');
  const sql = connect(url, { max: 1, application_name: 'bench-seed' });
  const rows = await sql<{ id: string }[]>`select id from workspaces order by id`;
  await seedMessages(
    sql,
    Number(process.argv[2] ?? 5_000_000),
    rows.map((row) => row.id),
  );
  await sql.end();
}
