import { idTime, newId } from '@postrider/core';
import { type Priority, priorities } from '@postrider/core/priorities';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, errorOf, openRest } from './rest-server.ts';

const statuses = [
  'scheduled',
  'queued',
  'deferred',
  'sending',
  'failed',
  'bounced',
  'complained',
  'suppressed',
  'canceled',
  'delivered',
] as const;
const senders = ['app@one.test', 'news@one.test', 'app@two.test', 'ceo@two.test', 'App@two.test'];
const people = ['ada@example.com', 'bob@example.com', 'eve@example.org', 'Ada@example.com'];
const tags = ['a', 'b', 'c', 'a.b'];
const transports = ['default', newId('transport', 0), newId('transport', 1)];

/** One row, as the tests describe it. */
interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: (typeof statuses)[number];
  readonly from: string;
  readonly to: readonly string[];
  readonly tags: readonly string[];
  readonly priority?: Priority;
  /** The transport of each attempt. */
  readonly transports?: readonly string[];
}

const START = Date.UTC(2030, 0, 10);
const SPAN_MS = 86_400_000;

const world = await openWorld();
const rest = await openRest(world);
let own: { readonly secret: string; readonly workspace_id: string };
let theirs: { readonly secret: string; readonly workspace_id: string };
let rows: readonly Row[];

beforeAll(async () => {
  await world.services.sql`update plans set logs_per_minute = 1000000`;
  own = await world.workspace('free');
  theirs = await world.workspace('free');
  const message = fc.record({
    at_ms: fc.integer({ min: 0, max: SPAN_MS - 1 }),
    owner: fc.constantFrom(own, own, own, theirs),
    status: fc.oneof({ weight: 3, arbitrary: fc.constant('delivered' as const) }, fc.constantFrom(...statuses)),
    from: fc.oneof({ weight: 2, arbitrary: fc.constant('app@one.test') }, fc.constantFrom(...senders)),
    to: fc.subarray(people, { minLength: 1 }),
    tags: fc.subarray(tags, { maxLength: 3 }),
    transports: fc.array(fc.constantFrom(...transports), { maxLength: 3 }),
    priority: fc.oneof({ weight: 3, arbitrary: fc.constant('normal' as const) }, fc.constantFrom(...priorities)),
  });
  const samples = fc.sample(message, { numRuns: 400, seed: 20_300_110 });
  rows = samples.map(({ at_ms, owner, ...row }) => ({
    ...row,
    id: newId('message', START + at_ms),
    workspace_id: owner.workspace_id,
  }));
  await insertRows(rows);
});

/** Stores messages as acceptance and delivery would, but only the rows that lists read. */
async function insertRows(inserted: readonly Row[]): Promise<void> {
  const { sql } = world.services;
  const texts = (pick: (row: Row) => string) => inserted.map(pick);
  await sql`
    insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
      cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
      last_event_type, last_event_at, priority)
    select workspace_id, id, status::delivery_state, 'live', from_email, from_email, split_part(from_email, '@', 2),
      '{}', '{}', '{}', 'Hello', string_to_array(tags, ','), '{}', 1, no_id(), now(), 1, 'email.queued', now(),
      priority::mail_priority
    from unnest(
      ${texts((row) => row.workspace_id)}::uuid[], ${texts((row) => row.id)}::uuid[],
      ${texts((row) => row.status)}::text[], ${texts((row) => row.from)}::text[],
      ${texts((row) => row.tags.join(','))}::text[], ${texts((row) => row.priority ?? 'normal')}::text[]
    ) as a (workspace_id, id, status, from_email, tags, priority)`;
  const tagged = inserted.flatMap((row) => row.tags.map((tag) => ({ ...row, tag })));
  await sql`
    insert into message_tags (tag_id, message_id)
    select intern_tag(workspace_id, tag), message_id from unnest(${tagged.map((row) => row.workspace_id)}::uuid[], ${tagged.map((row) => row.tag)}::text[],
      ${tagged.map((row) => row.id)}::uuid[]) as a (workspace_id, tag, message_id)`;
  const recipients = inserted.flatMap((row) => row.to.map((email) => ({ ...row, email })));
  await sql`
    insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
    select workspace_id, message_id, id, email, split_part(email, '@', 2), 'to', state::delivery_state, now()
    from unnest(
      ${recipients.map((row) => row.workspace_id)}::uuid[], ${recipients.map((row) => row.id)}::uuid[],
      ${recipients.map((row) => newId('recipient', idTime(row.id)))}::uuid[],
      ${recipients.map((row) => row.email)}::text[], ${recipients.map((row) => row.status)}::text[]
    ) as a (workspace_id, message_id, id, email, state)`;
  const attempts = inserted.flatMap((row) => (row.transports ?? []).map((transport) => ({ ...row, transport })));
  await sql`
    insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
      started_at, finished_at, transport_id)
    select workspace_id, message_id, id, no_id(), 1, 'deferred', 'rcpt', 'mx', '{}', now(), now(),
      case when transport <> 'default' then id_of(transport) end
    from unnest(
      ${attempts.map((row) => row.workspace_id)}::uuid[], ${attempts.map((row) => row.id)}::uuid[],
      ${attempts.map((row) => newId('attempt', idTime(row.id)))}::uuid[], ${attempts.map((row) => row.transport)}::text[]
    ) as a (workspace_id, message_id, id, transport)`;
}

interface Filter {
  readonly status?: readonly string[] | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly domain?: string | undefined;
  readonly to_domain?: string | undefined;
  readonly priority?: Priority | undefined;
  readonly transport?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

function isSame(left: string, right: string | undefined): boolean {
  return left.toLowerCase() === right?.toLowerCase();
}

/** Implements the list's semantics in plain code. */
function expected(filter: Filter, workspace_id: string): string[] {
  return rows
    .filter(
      (row) =>
        row.workspace_id === workspace_id &&
        (filter.status === undefined || filter.status.includes(row.status)) &&
        (filter.tag ?? []).every((tag) => row.tags.includes(tag)) &&
        (filter.to === undefined || row.to.some((email) => isSame(email, filter.to))) &&
        (filter.from === undefined || isSame(row.from, filter.from)) &&
        (filter.domain === undefined || row.from.endsWith(`@${filter.domain}`)) &&
        (filter.to_domain === undefined || row.to.some((email) => email.endsWith(`@${filter.to_domain}`))) &&
        (filter.priority === undefined || row.priority === filter.priority) &&
        (filter.transport === undefined || row.transports?.includes(filter.transport)) &&
        (filter.since === undefined || idTime(row.id) >= filter.since) &&
        (filter.until === undefined || idTime(row.id) < filter.until),
    )
    .map((row) => row.id)
    .sort()
    .toReversed();
}

function queryOf(filter: Filter): URLSearchParams {
  const query = new URLSearchParams();
  if (filter.status) query.set('status', filter.status.join(','));
  for (const tag of filter.tag ?? []) query.append('tag', tag);
  for (const name of ['to', 'from', 'domain', 'to_domain', 'priority', 'transport'] as const)
    if (filter[name] !== undefined) query.set(name, filter[name]);
  for (const name of ['since', 'until'] as const) {
    const at = filter[name];
    if (at !== undefined) query.set(name, new Date(at).toISOString());
  }
  return query;
}

const logs = (query: URLSearchParams | string, key = own.secret) => rest.call('GET', `/email/logs?${query}`, { key });

function idsOf(response: ApiResponse): string[] {
  expect(response.status, response.text).toBe(200);
  // The route's own tests check that this is a list of log entries.
  return (response.body.data as { id: string }[]).map((entry) => entry.id);
}

/** Returns the IDs of every page, first to last. */
async function walk(query: URLSearchParams, limit: number, key = own.secret): Promise<string[][]> {
  const pages: string[][] = [];
  const page = new URLSearchParams(query);
  page.set('limit', String(limit));
  for (;;) {
    const response = await logs(page, key);
    pages.push(idsOf(response));
    if (!response.body.has_more) {
      expect(response.body.next_cursor).toBeNull();
      return pages;
    }
    page.set('cursor', String(response.body.next_cursor));
  }
}

describe('200', () => {
  it('results match a reference filter written in plain code, for any filters and page size', async () => {
    const instant = fc.integer({ min: START - 1000, max: START + SPAN_MS + 1000 });
    const filters = fc.record(
      {
        status: fc.subarray([...statuses], { minLength: 1 }),
        tag: fc.subarray([...tags, 'never'], { minLength: 1, maxLength: 3 }),
        to: fc.constantFrom(...people, 'nobody@example.com'),
        from: fc.constantFrom(...senders, 'nobody@one.test'),
        domain: fc.constantFrom('one.test', 'two.test', 'three.test'),
        priority: fc.constantFrom(...priorities),
        transport: fc.constantFrom(...transports, newId('transport', 2)),
        to_domain: fc.constantFrom('example.com', 'example.org', 'example.net'),
        since: instant,
        until: instant,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        filters,
        fc.integer({ min: 1, max: 100 }),
        fc.constantFrom('mine', 'theirs'),
        async (filter, limit, side) => {
          const owner = side === 'mine' ? own : theirs;
          const pages = await walk(queryOf(filter), limit, owner.secret);

          expect(pages.flat()).toEqual(expected(filter, owner.workspace_id));
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('newcomer N12: an address is found regardless of how its characters are encoded', async () => {
    const idsFor = (query: string) => logs(query).then(idsOf);
    const all = { limit: '100' };

    for (const [name, address] of [
      ['to', 'Ada@example.com'],
      ['from', 'App@two.test'],
    ] as const) {
      const [lower, asGiven, upper] = await Promise.all(
        [address.toLowerCase(), address, address.toUpperCase()].map((one) =>
          idsFor(String(new URLSearchParams({ ...all, [name]: one }))),
        ),
      );

      expect(lower?.length).toBeGreaterThan(10);
      expect([asGiven, upper]).toEqual([lower, lower]);
    }
  });

  it('a domain filter can page through very many senders, and excludes senders in another domain', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    const crowd = Array.from(
      { length: 60 },
      (_, index): Row => ({
        id: newId('message', START + index),
        workspace_id,
        status: index % 3 === 0 ? 'failed' : 'delivered',
        from: index % 2 === 0 ? `u${index}@crowd.test` : 'app@one.test',
        to: ['ada@example.com'],
        tags: [],
      }),
    );
    await insertRows(crowd);
    const idsIf = (passes: (row: Row) => boolean) =>
      crowd
        .filter(passes)
        .map((row) => row.id)
        .toReversed();
    const pages = async (query: string) => (await walk(new URLSearchParams(query), 7, secret)).flat();

    const some = crowd.filter((row) => row.from.endsWith('@crowd.test')).length;
    expect(some).toBe(30);
    expect(await pages('domain=crowd.test')).toEqual(idsIf((row) => row.from.endsWith('@crowd.test')));
    await insertRows(
      crowd
        .slice(0, 20)
        .map((row, index) => ({ ...row, id: newId('message', START + 100 + index), from: `v${index}@crowd.test` })),
    );
    expect(await pages('domain=crowd.test')).toHaveLength(50);
    expect(await pages('domain=crowd.test&status=failed')).toHaveLength(10 + 7);
    const page = await logs('domain=crowd.test&from=app@one.test', secret);
    expect(page.body).toMatchObject({ data: [], has_more: false });
  });

  it.each(transports)('an email is found by the transport of any attempt: %s', async (transport) => {
    const ids = (await walk(new URLSearchParams({ transport }), 50)).flat();

    expect(ids).toEqual(expected({ transport }, own.workspace_id));
    expect(ids.length).toBeGreaterThan(20);
  });

  it('a message must have every requested tag', async () => {
    expect(idsOf(await logs('limit=100&tag=a'))).toEqual(expected({ tag: ['a'] }, own.workspace_id).slice(0, 100));
    expect((await walk(new URLSearchParams('tag=a&tag=b&tag=a'), 50)).flat()).toEqual(
      expected({ tag: ['a', 'b'] }, own.workspace_id),
    );
  });

  it('addresses and domains are parsed as in a send request', async () => {
    const by_address = await logs(new URLSearchParams({ to: 'Ada Lovelace <ada@EXAMPLE.com.>', limit: '100' }));
    expect(idsOf(by_address)).toEqual(expected({ to: 'ada@example.com' }, own.workspace_id).slice(0, 100));
    const by_domain = await logs(new URLSearchParams({ domain: 'TWO.test.', limit: '100' }));
    expect(idsOf(by_domain)).toEqual(expected({ domain: 'two.test' }, own.workspace_id).slice(0, 100));
  });

  it('since is inclusive and until is exclusive, to the millisecond', async () => {
    const [newest = ''] = expected({}, own.workspace_id);
    const at = idTime(newest);

    expect(idsOf(await logs(queryOf({ since: at })))).toEqual(expected({ since: at }, own.workspace_id));
    expect(idsOf(await logs(queryOf({ since: at })))).toContain(newest);
    expect(idsOf(await logs(queryOf({ until: at })))).not.toContain(newest);
    expect(idsOf(await logs(queryOf({ since: at, until: at })))).toEqual([]);
  });

  it('paging neither repeats nor skips a message while email is being accepted', async () => {
    await world.domain('flow.test', own.workspace_id);
    const send = () =>
      rest.call('POST', '/email/send', {
        key: own.secret,
        body: { from: 'a@flow.test', to: 'ada@example.com', subject: 'x', text: 'x', tags: ['flow'] },
      });
    for (let index = 0; index < 30; index++) expect((await send()).status).toBe(202);
    const before = idsOf(await logs('tag=flow&limit=100'));

    const walking = walk(new URLSearchParams('tag=flow&to=ada@example.com&domain=flow.test'), 4);
    const sending = Promise.all(Array.from({ length: 20 }, send));
    const [pages] = await Promise.all([walking, sending]);

    const ids = pages.flat();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => before.includes(id))).toEqual(before);
  });

  it('a page ends early after too many rows are read, and later pages find the last match', async () => {
    const { sql } = world.services;
    const { workspace_id, secret } = await world.workspace('free');
    const oldest = newId('message', START);
    // Every message has one of two tags, and only the oldest of 24,000 has both.
    await sql`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
        last_event_type, last_event_at)
      select ${workspace_id}, case when i = 0 then ${oldest} else
        derived_id('msg', id_floor(to_timestamp(${START / 1000}) + i * interval '1 second'), '') end,
        'delivered', 'live', 'a@one.test', 'a@one.test', 'one.test', '{}', '{}', '{}', 'Hello',
        case when i = 0 then '{odd,even}'::text[] when i % 2 = 0 then '{even}' else '{odd}' end,
        '{}', 1, no_id(), now(), 1, 'email.delivered', now()
      from generate_series(0, 23999) as i`;
    await sql`
      insert into message_tags (tag_id, message_id)
      select intern_tag(workspace_id, unnest(tags)), id from messages where workspace_id = ${workspace_id}`;

    const first = await logs('tag=odd&tag=even', secret);
    const pages = await walk(new URLSearchParams('tag=odd&tag=even'), 20, secret);

    expect(first.body).toMatchObject({ data: [], has_more: true, next_cursor: expect.any(String) });
    expect(pages.flat()).toEqual([oldest]);
    expect(pages.length).toBeLessThan(15);
  });
});

describe('400', () => {
  it.each([
    ['to=nobody', 'invalid_email'],
    ['from=a@b', 'invalid_email'],
    ['to=a@one.test&to=b@one.test', 'invalid_type'],
    ['domain=x', 'invalid_domain'],
    ['domain=http://one.test', 'invalid_domain'],
    ['transport=ses', 'invalid_type'],
    [`transport=${newId('message', 0)}`, 'invalid_type'],
    ['since=yesterday', 'invalid_timestamp'],
    ['until=2030-02-30T00:00:00Z', 'invalid_timestamp'],
    ['until=2030-02-01', 'invalid_timestamp'],
    ['tag=a&tag=b&tag=c&tag=d&tag=e&tag=f', 'too_many_tags'],
    ['status=delivered&status=bounced', 'invalid_type'],
    ['status=gone', 'invalid_status'],
    ['tags=a', 'unknown_parameter'],
  ])('the query %s is rejected', async (query, reason) => {
    const response = await logs(query);

    expect([response.status, errorOf(response).reason], response.text).toEqual([400, reason]);
  });

  it('a cursor from a query with other filters is rejected', async () => {
    const issued = String((await logs('limit=1&tag=a&from=app@one.test')).body.next_cursor);

    expect((await logs(`limit=1&tag=a&from=app@one.test&cursor=${issued}`)).status).toBe(200);
    for (const other of ['tag=a', 'tag=b&from=app@one.test', 'tag=a&from=news@one.test', 'tag=a&to=app@one.test', '']) {
      expect(errorOf(await logs(`limit=1&${other}&cursor=${issued}`)).reason).toBe('invalid_cursor');
    }
    expect(errorOf(await logs(`tag=a&from=app@one.test&cursor=${issued}`, theirs.secret)).reason).toBe(
      'invalid_cursor',
    );
  });
});
