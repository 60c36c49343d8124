import { connect, type Sql } from '@postrider/db';
import { createDatabase, type TestDatabase } from '@postrider/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../fields/ids.ts';
import { recipientsOf } from './log-store.ts';
import { countFilters, type MessageFilter } from './messages-filter.ts';
import { type Driver, messagesAmong, rarestDriver, sendersOf } from './messages-filter-store.ts';

// The tests run with plans created on empty tables, because a prepared statement keeps such a plan after messages have
// arrived.

const MESSAGES = 20_000;
const PAGE = 21;
const WORKSPACE = newId('workspace', 0);
const TRANSPORT = newId('transport', 0);
const everything = { from: '', before: '~' };
const no_conditions: MessageFilter = {
  statuses: null,
  tags: [],
  to: null,
  from: null,
  domain: null,
  to_domain: null,
  priority: null,
  transport: null,
};

/**
 * One message in 2,000 has the rare values, one in ten is from the domain with many senders, and the rest are alike.
 */
const filters: readonly (readonly [string, Driver, Partial<MessageFilter>])[] = [
  ['everything', { kind: 'all' }, {}],
  ['the common status', { kind: 'status', statuses: ['delivered'] }, { statuses: ['delivered'] }],
  ['the rare status', { kind: 'status', statuses: ['failed'] }, { statuses: ['failed'] }],
  [
    'a status that nothing has',
    { kind: 'status', statuses: ['queued', 'sending'] },
    { statuses: ['queued', 'sending'] },
  ],
  ['the common tag', { kind: 'tag', tag: 'common' }, { tags: ['common'] }],
  ['the rare tag', { kind: 'tag', tag: 'rare' }, { tags: ['rare'] }],
  ['the common recipient', { kind: 'recipient', email: 'ada@example.com' }, { to: 'ada@example.com' }],
  ['the rare recipient', { kind: 'recipient', email: 'eve@example.com' }, { to: 'eve@example.com' }],
  ['the common sender', { kind: 'sender', domain: 'one.test', emails: ['a@one.test'] }, { from: 'a@one.test' }],
  ['the rare sender', { kind: 'sender', domain: 'one.test', emails: ['b@one.test'] }, { from: 'b@one.test' }],
  [
    'the rare sender with a status',
    { kind: 'sender', domain: 'one.test', emails: ['b@one.test'] },
    { statuses: ['failed'] },
  ],
];

/**
 * The ten messages to eve pass all of these filters: `to` drives the walk, and every other filter is looked up in its
 * index.
 */
const lookUps: readonly (readonly [string, Partial<MessageFilter>])[] = [
  ['a tag', { tags: ['common'] }],
  ['two tags', { tags: ['common', 'rare'] }],
  ['a status', { statuses: ['failed'] }],
  ['several statuses', { statuses: ['failed', 'queued', 'sending'] }],
  ['a sender', { from: 'b@one.test' }],
  ['a domain', { domain: 'one.test' }],
  ['the domain of a recipient', { to_domain: 'example.com' }],
  ['that no recipient was tried', { tried: false }],
  ['a transport', { transport: TRANSPORT }],
  ['everything at once', { tags: ['common'], statuses: ['failed'], from: 'b@one.test', domain: 'one.test' }],
];
const eve: Driver = { kind: 'recipient', email: 'eve@example.com' };
const failed: Driver = { kind: 'status', statuses: ['failed'] };

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createDatabase();
  sql = connect(database.url, { max: 1, application_name: 'postrider-test-filter' });
  const partitions = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = any ('{messages,recipients,message_tags,attempts}'::regclass[])`;
  for (const { name } of partitions) await sql`alter table ${sql(name)} set (autovacuum_enabled = false)`;
  for (let time = 0; time < 8; time++) {
    for (const [, driver, filter] of filters) await ask(driver, filter);
    for (const [, filter] of lookUps) await ask(eve, filter);
    await ask(failed, { to: 'eve@example.com' });
    await sendersOf(sql, WORKSPACE, 'one.test', 32);
    await rarestDriver(sql, WORKSPACE, bothDrivers, everything);
  }
  await sql`
    insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
      cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
      last_event_type, last_event_at)
    select ${WORKSPACE}::uuid, derived_id('msg', id_floor(clock_now() + i * interval '1 ms'), i::text),
      case when i % 2000 = 0 then 'failed' else 'delivered' end::delivery_state, 'live', '', e.email, split_part(e.email, '@', 2), '{}',
      '{}', '{}', 'Hello', case when i % 2000 = 0 then '{common,rare}'::text[] else '{common}' end, '{}', 1, no_id(),
      clock_now(), 1, 'email.queued', clock_now()
    from generate_series(1, ${MESSAGES}::int) as i
    cross join lateral (select case when i % 2000 = 0 then 'b@one.test'
      when i % 10 = 1 then 'u' || i % 2000 || '@many.test' else 'a@one.test' end as email) e`;
  await sql`
    insert into message_tags (tag_id, message_id) select intern_tag(workspace_id, unnest(tags)), id from messages`;
  await sql`
    insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
    select workspace_id, id, derived_id('rcp', id, ''), case when status = 'failed' then 'eve@example.com' else 'ada@example.com' end,
      'example.com', 'to', status, clock_now()
    from messages`;
  await sql`
    insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
      started_at, finished_at, transport_id)
    select workspace_id, id, derived_id('att', id, ''), derived_id('rcp', id, ''), 1, 'accepted', 'after_dot', '', '{}',
      clock_now(), clock_now(), case when status = 'failed' then ${TRANSPORT}::uuid end
    from messages`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const bothDrivers: [Driver, ...Driver[]] = [
  { kind: 'status', statuses: ['delivered'] },
  { kind: 'sender', domain: 'one.test', emails: ['b@one.test'] },
];

async function ask(driver: Driver, filter: Partial<MessageFilter>): Promise<number> {
  const candidates = await messagesAmong(
    sql,
    WORKSPACE,
    driver,
    { ...no_conditions, ...filter },
    everything,
    PAGE,
    PAGE,
  );
  const recipients = await recipientsOf(
    sql,
    WORKSPACE,
    candidates.rows.map((row) => row.id),
  );
  expect(recipients.size).toBe(candidates.rows.length);
  return candidates.rows.length;
}

/** Counts the rows of all message tables, and the pages of tables and indexes, that the database read for a query. */
async function readFor(read: () => Promise<unknown>): Promise<{ rows: number; pages: number }> {
  await sql`begin`;
  const before = await readSoFar();
  await read();
  const after = await readSoFar();
  await sql`commit`;
  return { rows: after.rows - before.rows, pages: after.pages - before.pages };
}

/** Returns the rows and pages read so far, from the statistics of the current transaction. */
async function readSoFar(): Promise<{ rows: number; pages: number }> {
  const [row] = await sql<{ rows: number; pages: number }[]>`
    select
      (select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables
        where relname ~ '^(messages|recipients|message_tags|attempts)_')::int as rows,
      (select sum(pg_stat_get_xact_blocks_fetched(oid)) from pg_class
        where relname ~ '^(messages|recipients|message_tags|attempts)_' and relkind in ('r', 'i'))::int as pages`;
  return row ?? { rows: Number.NaN, pages: Number.NaN };
}

it.each(filters)(
  '%s is read using its index, with a query plan created on empty tables',
  async (_name, driver, filter) => {
    let count = 0;
    const { rows } = await readFor(async () => {
      count = await ask(driver, filter);
    });

    expect(count).toBeLessThanOrEqual(PAGE);
    // Each row of the page costs one index entry, its message and its recipient.
    expect(rows).toBeLessThanOrEqual(count * 3 + PAGE);
  },
);

/**
 * Returns the lowest of three measurements. Pages read through a wrong index appear in all three; the first pages of an
 * index are reread only if the session's table cache was invalidated, for example by an autovacuum.
 */
async function readLeast(work: () => Promise<void>): Promise<{ rows: number; pages: number }> {
  const reads = [await readFor(work), await readFor(work), await readFor(work)];
  return { rows: Math.min(...reads.map(({ rows }) => rows)), pages: Math.min(...reads.map(({ pages }) => pages)) };
}

// Measured for ten messages and each of their lookups; a lookup in the wrong index reads 60 more pages.
const conditionCount = (filter: Partial<MessageFilter>) =>
  countFilters({ ...no_conditions, ...filter }) + (filter.tried === undefined ? 0 : 1);
const pagesOf = (filter: Partial<MessageFilter>) => 130 + 45 * conditionCount(filter);

it.each(lookUps)('%s is looked up in its index, with a query plan created on empty tables', async (_name, filter) => {
  let count = 0;
  const { rows, pages } = await readLeast(async () => {
    count = await ask(eve, filter);
  });

  expect(count).toBe(10);
  // Per message, one index entry for each filter, then the message and its recipient.
  expect(rows).toBeLessThanOrEqual(count * (3 + conditionCount(filter)));
  expect(pages).toBeLessThan(pagesOf(filter));
});

it('a recipient is looked up in its index, with a query plan created on empty tables', async () => {
  let count = 0;
  const { rows, pages } = await readLeast(async () => {
    count = await ask(failed, { to: 'eve@example.com' });
  });

  expect(count).toBe(10);
  expect(rows).toBeLessThanOrEqual(count * 4);
  expect(pages).toBeLessThan(pagesOf({ to: 'eve@example.com' }));
});

it('a domain’s senders are listed without reading its messages', async () => {
  let senders: readonly string[] | null = null;
  const { rows } = await readFor(async () => {
    senders = await sendersOf(sql, WORKSPACE, 'one.test', 32);
  });

  expect(senders).toEqual(['a@one.test', 'b@one.test']);
  expect(rows).toBeLessThan(10);
  expect(await sendersOf(sql, WORKSPACE, 'one.test', 1)).toBeNull();
});

it('the most selective filter is applied first, and only the first page per filter is examined', async () => {
  let driver: Driver | null = null;
  const { rows } = await readFor(async () => {
    driver = await rarestDriver(sql, WORKSPACE, bothDrivers, everything);
  });

  expect(driver).toEqual(bothDrivers[1]);
  expect(rows).toBeLessThan(500);
});
