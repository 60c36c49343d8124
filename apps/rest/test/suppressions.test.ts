import { scopes } from '@postrider/core/api-keys';
import { maintainStorage } from '@postrider/core/storage';
import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countEach, fillWindow } from './rate-windows.ts';
import {
  type ApiResponse,
  type CallOptions,
  detailsOf,
  errorOf,
  type RestServer,
  rateOf,
  startRest,
} from './rest-server.ts';

const MINUTE_MS = 60_000;

let world: World;
let rest: RestServer;
/** Serves the same /v1, as if from another process. */
let other: RestServer;

beforeAll(open);
afterAll(close);

async function open(): Promise<void> {
  world = await createWorld();
  rest = await startRest(world.services, world.secret);
  other = await startRest(await world.peer(), world.secret);
  await world.clock.freeze(new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 5000));
}
beforeEach(() => world.clock.advance(MINUTE_MS));
async function close(): Promise<void> {
  await rest.stop();
  await other.stop();
  await world.stop();
}

const list = (query = '', options: CallOptions = {}) => rest.call('GET', `/suppressions${query}`, options);
const add = (body: unknown, options: CallOptions = {}) => rest.call('POST', '/suppressions', { body, ...options });
const remove = (email: string, options: CallOptions = {}) =>
  rest.call('DELETE', `/suppressions/${encodeURIComponent(email)}`, options);
const send = (to: string | string[], options: CallOptions = {}) =>
  rest.call('POST', '/email/send', {
    body: { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' },
    ...options,
  });
const inMinutes = (minutes: number) => new Date(world.clock.now() + minutes * MINUTE_MS).toISOString();

// Responses are asserted on as JSON. The status shows that there are entries.
function entriesOf(response: ApiResponse): Record<string, unknown>[] {
  expect(response.status, response.text).toBeLessThan(300);
  return response.body.data as Record<string, unknown>[];
}

const emailsOf = (response: ApiResponse) => entriesOf(response).map((entry) => entry.email);

async function eventsOf(type: string, options: CallOptions = {}): Promise<Record<string, unknown>[]> {
  return entriesOf(await rest.call('GET', `/events?type=${type}&limit=100`, options)).map(
    (event) => event.data as Record<string, unknown>,
  );
}

describe('200', () => {
  it('the list shows entries newest first, filtered by source and by address in any letter case', async () => {
    const { secret: key } = await world.workspace('free');
    await add({ email: 'first@example.com' }, { key });
    await world.clock.advance(1);
    await add({ suppressions: [{ email: 'second@example.com' }] }, { key });
    await world.clock.advance(1);
    const third = await add({ email: 'Third@Example.com', reason: 'asked by phone' }, { key });

    const response = await list('', { key });

    expect(entriesOf(response)[0]).toEqual(third.body);
    expect(emailsOf(response)).toEqual(['third@example.com', 'second@example.com', 'first@example.com']);
    expect(emailsOf(await list('?source=import', { key }))).toEqual(['second@example.com']);
    expect(emailsOf(await list('?source=manual,import', { key }))).toHaveLength(3);
    expect(emailsOf(await list('?source=bounce,complaint', { key }))).toEqual([]);
    expect(emailsOf(await list('?email=THIRD@example.COM', { key }))).toEqual(['third@example.com']);
    expect(emailsOf(await list('?email=third@example.com&source=import', { key }))).toEqual([]);
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
  });

  it('paging returns every address once, with or without a filter, despite concurrent additions', async () => {
    const { secret: key } = await world.workspace('free');
    const suppressions = Array.from({ length: 7 }, (_, index) => ({ email: `p${index}@example.com` }));
    await add({ suppressions }, { key });
    await add({ email: 'by-hand@example.com' }, { key });
    for (const [filter, count] of [
      ['', 8],
      ['&source=import', 7],
    ] as const) {
      const ids: unknown[] = [];
      let query = `?limit=3${filter}`;
      for (;;) {
        const page = await list(query, { key });
        ids.push(...emailsOf(page));
        if (!page.body.has_more) break;
        query = `?limit=3${filter}&cursor=${page.body.next_cursor}`;
        await world.clock.advance(1);
        await add({ email: `late${ids.length}${filter.length}@example.com` }, { key });
      }
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(count);
    }
  });

  it('an address removed in any spelling, on any process, can receive the next email, and an event is emitted', async () => {
    const added = await add({ email: 'back@bücher.test' });
    expect(added.body.email).toBe('back@xn--bcher-kva.test');
    expect(errorOf(await send('back@bücher.test')).reason).toBe('all_recipients_suppressed');

    const response = await other.call('DELETE', `/suppressions/${encodeURIComponent('BACK@Bücher.test.')}`);

    expect(response.body).toEqual({
      object: 'suppression',
      id: added.body.id,
      email: 'back@xn--bcher-kva.test',
      deleted: true,
    });
    expect((await send('back@bücher.test')).status).toBe(202);
    const [event] = await eventsOf('suppression.removed');
    expect(event).toEqual({
      suppression: {
        id: added.body.id,
        email: 'back@xn--bcher-kva.test',
        source: 'manual',
        reason: null,
        source_event_id: null,
      },
      cause: 'deleted',
      email: null,
      recipient: null,
    });
  });

  it('concurrent requests remove an address only once', async () => {
    await add({ email: 'once@example.com' });

    const responses = await Promise.all(
      [rest, other, rest, other].map((server) => server.call('DELETE', '/suppressions/once@example.com')),
    );

    expect(countEach(responses.map((response) => response.status))).toEqual(
      new Map([
        [200, 1],
        [404, 3],
      ]),
    );
    const events = (await eventsOf('suppression.removed')).filter(
      (data) => (data.suppression as { email: string }).email === 'once@example.com',
    );
    expect(events).toHaveLength(1);
  });

  it('an expired address is neither listed nor suppressed, and an event follows within the hour', async () => {
    const { secret: key } = await world.workspace('free');
    const { id } = (await add({ email: 'brief@example.com', expires_at: inMinutes(5) }, { key })).body;
    expect(emailsOf(await list('', { key }))).toEqual(['brief@example.com']);

    await world.clock.advance(5 * MINUTE_MS);

    expect(emailsOf(await list('', { key }))).toEqual([]);
    expect((await remove('brief@example.com', { key })).status).toBe(404);
    await maintainStorage(world.services);
    await maintainStorage(world.services);
    expect(await eventsOf('suppression.removed', { key })).toMatchObject([{ suppression: { id }, cause: 'expired' }]);
    expect(await world.services.sql`select from suppressions where email = 'brief@example.com'`).toHaveLength(0);
  });
});

describe('201', () => {
  it('an added address is suppressed for the next email on every process, and an event is emitted', async () => {
    const expires_at = inMinutes(60);

    const response = await add({ email: 'Ada@Example.COM', reason: 'asked by phone', expires_at });

    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      object: 'suppression',
      id: expect.stringMatching(/^sup_[0-9a-z]{26}$/),
      email: 'ada@example.com',
      reason: 'asked by phone',
      source: 'manual',
      source_event_id: null,
      created_at: new Date(world.clock.now()).toISOString(),
      expires_at,
    });
    for (const spelling of ['ada@example.com', 'ADA@example.com', 'Ada@Example.COM']) {
      const body = { from: 'hello@sandbox.test', to: spelling, subject: 'Hello', text: 'Hi' };
      expect(errorOf(await other.call('POST', '/email/send', { body })).reason).toBe('all_recipients_suppressed');
    }
    const [event] = await eventsOf('suppression.added');
    expect(event).toMatchObject({ suppression: { id: response.body.id, email: 'ada@example.com', source: 'manual' } });
  });

  it('a suppressed recipient does not stop email to others, and appears in the log and in events', async () => {
    await add({ email: 'quiet@example.com' });

    const sent = await send(['Quiet@example.com', 'loud@example.com']);
    await world.drain();

    const response = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(response.body.recipients).toMatchObject([
      { email: 'Quiet@example.com', status: 'suppressed', attempts: 0 },
      { email: 'loud@example.com', status: 'delivered' },
    ]);
    expect(entriesOf(await rest.call('GET', `/events?email_id=${sent.body.id}&type=email.suppressed`))).toMatchObject([
      { data: { recipient: { email: 'Quiet@example.com', status: 'suppressed' } } },
    ]);
  });

  it('each address in a list is added in order, and invalid ones are rejected individually', async () => {
    const { secret: key } = await world.workspace('free');
    await add({ email: 'there@example.com' }, { key });
    const suppressions = [
      { email: 'new@example.com', reason: 'left the company', expires_at: inMinutes(5) },
      { email: 'no address' },
      { email: 'THERE@example.com' },
      { email: 'NEW@example.com' },
      { email: 'past@example.com', expires_at: inMinutes(-5) },
      { emial: 'typo@example.com' },
      'plain@example.com',
      null,
      { email: 'last@example.com' },
    ];

    const response = await add({ suppressions }, { key });

    expect(response.status).toBe(201);
    expect(entriesOf(response)).toMatchObject([
      { object: 'suppression', email: 'new@example.com', source: 'import', reason: 'left the company' },
      { error: { code: 'invalid_request', reason: 'invalid_email', details: [{ param: 'email' }] } },
      { error: { code: 'unprocessable', reason: 'suppression_exists' } },
      { error: { reason: 'suppression_exists' } },
      { error: { reason: 'invalid_timestamp' } },
      { error: { reason: 'misspelled_field' } },
      { error: { reason: 'invalid_type' } },
      { error: { reason: 'invalid_type' } },
      { object: 'suppression', email: 'last@example.com' },
    ]);
    expect(emailsOf(await list('', { key })).sort()).toEqual([
      'last@example.com',
      'new@example.com',
      'there@example.com',
    ]);
    expect(await eventsOf('suppression.added', { key })).toHaveLength(3);
  });

  it('a thousand addresses are accepted in one request', async () => {
    const { secret: key } = await world.workspace('free');
    const suppressions = Array.from({ length: 1000 }, (_, index) => ({ email: `m${index}@example.com` }));

    const response = await add({ suppressions }, { key });

    expect(new Set(emailsOf(response)).size).toBe(1000);
  });

  it('an address is added only once by concurrent requests to two processes', async () => {
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? rest : other).call('POST', '/suppressions', {
          body:
            index % 3 === 0
              ? { suppressions: [{ email: 'race@example.com' }] }
              : { email: index % 4 === 0 ? 'RACE@example.com' : 'race@example.com' },
        }),
      ),
    );

    const added = responses.filter(
      (response) => response.body.object === 'suppression' || (response.body.data as [{ object?: string }])?.[0].object,
    );
    expect(added).toHaveLength(1);
    const events = (await eventsOf('suppression.added')).filter(
      (data) => (data.suppression as { email: string }).email === 'race@example.com',
    );
    expect(events).toHaveLength(1);
  });

  it('an expired address can be added again before the cleanup has run', async () => {
    await add({ email: 'again@example.com', expires_at: inMinutes(1) });
    await world.clock.advance(MINUTE_MS);
    expect((await send('again@example.com')).status).toBe(202);

    const response = await add({ email: 'again@example.com', reason: 'still' });

    expect(response.body).toMatchObject({ reason: 'still', expires_at: null });
    expect(errorOf(await send('again@example.com')).reason).toBe('all_recipients_suppressed');
  });
});

describe('400', () => {
  it.each<[unknown, string[]]>([
    [{}, ['email missing_field']],
    [{ email: 'nobody' }, ['email invalid_email']],
    [{ email: 'Ada <ada@example.com>' }, ['email invalid_email']],
    [{ email: ['a@example.com'] }, ['email invalid_type']],
    [{ emails: 'a@example.com' }, ['emails misspelled_field', 'email missing_field']],
    [{ email: 'a@example.com', expiresAt: null }, ['expiresAt misspelled_field']],
    [{ email: 'a@example.com', reason: 'x'.repeat(501) }, ['reason invalid_type']],
    [{ email: 'a@example.com', reason: 'a\0b' }, ['reason invalid_type']],
    [{ email: 'a@example.com', expires_at: 'tomorrow' }, ['expires_at invalid_timestamp']],
    [{ email: 'a@example.com', expires_at: '2020-01-01T00:00:00Z' }, ['expires_at invalid_timestamp']],
    [{ suppressions: [] }, ['suppressions invalid_type']],
    [{ suppressions: {} }, ['suppressions invalid_type']],
    [{ suppressions: Array(1001).fill({ email: 'a@example.com' }) }, ['suppressions invalid_type']],
    [{ email: 'a@example.com', suppressions: [{ email: 'b@example.com' }] }, ['suppressions invalid_type']],
    [null, [' invalid_type']],
  ])('the input %j is rejected', async (body, details) => {
    const response = await add(body);

    expect(response.status, response.text).toBe(400);
    expect(detailsOf(response)).toEqual(details);
  });

  it('unknown filters and an invalid address are rejected', async () => {
    expect(detailsOf(await list('?source=nobody&limit=0&emial=x'))).toEqual([
      'emial unknown_parameter',
      'limit invalid_limit',
      'source invalid_type',
    ]);
    expect(detailsOf(await list('?email=x'))).toEqual(['email invalid_email']);
    expect(detailsOf(await remove('x'))).toEqual(['email invalid_email']);
  });

  it('a cursor from a query with other filters, or from another workspace, is rejected', async () => {
    await add({ suppressions: [{ email: 'c1@example.com' }, { email: 'c2@example.com' }] });
    const { secret: key } = await world.workspace('free');
    const issued = String((await list('?limit=1')).body.next_cursor);

    expect(errorOf(await list(`?cursor=${issued}&source=import`)).reason).toBe('invalid_cursor');
    expect(errorOf(await list(`?cursor=${issued}`, { key })).reason).toBe('invalid_cursor');
  });

  it('a body larger than 100 kB is rejected', async () => {
    const suppressions = Array.from({ length: 1000 }, (_, index) => ({
      email: `${index}@example.com`,
      reason: 'x'.repeat(100),
    }));

    expect(errorOf(await add({ suppressions })).reason).toBe('body_too_large');
  });
});

describe('401', () => {
  it('all three endpoints require a key', async () => {
    for (const response of [
      await list('', { key: null }),
      await add({}, { key: null }),
      await remove('a@example.com', { key: null }),
    ])
      expect(errorOf(response).reason).toBe('missing_key');
  });
});

describe('403', () => {
  it('email:logs:read is required for reading and admin for writing, before the body is read', async () => {
    await add({ email: 'kept@example.com' });
    for (const scope of scopes.filter((one) => one !== 'admin')) {
      const { secret: key } = await world.key({ scopes: [scope] });

      expect((await list('', { key })).status).toBe(scope === 'email:logs:read' ? 200 : 403);
      expect(errorOf(await add('{', { key })).required_scope).toBe('admin');
      expect(errorOf(await remove('kept@example.com', { key })).required_scope).toBe('admin');
    }
    expect(emailsOf(await list('?email=kept@example.com'))).toHaveLength(1);
  });
});

describe('404', () => {
  it("an address that is not on the list, or only on another workspace's list, is not found", async () => {
    const theirs = await world.workspace('free');
    await add({ email: 'theirs@example.com' }, { key: theirs.secret });

    const responses = [await remove('nobody@example.com'), await remove('theirs@example.com')];

    for (const response of responses) expect(errorOf(response).reason).toBe('suppression_not_found');
    expect(emailsOf(await list('', { key: theirs.secret }))).toEqual(['theirs@example.com']);
    expect(emailsOf(await list('?email=theirs@example.com'))).toEqual([]);
    expect((await send('theirs@example.com')).status).toBe(202);
  });
});

describe('422', () => {
  it('an address already on the list is rejected, and its entry stays unchanged', async () => {
    const first = await add({ email: 'twice@example.com', reason: 'first' });

    const response = await add({ email: 'Twice@example.com', reason: 'second' });

    expect(errorOf(response)).toMatchObject({ code: 'unprocessable', reason: 'suppression_exists' });
    expect(entriesOf(await list('?email=twice@example.com'))).toEqual([first.body]);
  });

  it('an email only to suppressed addresses is rejected', async () => {
    await add({ suppressions: [{ email: 'one@example.com' }, { email: 'two@example.com' }] });

    expect(errorOf(await send(['One@example.com', 'two@example.com'])).reason).toBe('all_recipients_suppressed');
  });
});

describe('429', () => {
  it('the 121st request within a minute is rejected on any of the three endpoints', async () => {
    const key = await world.key({ scopes: ['admin'] });
    await fillWindow(world, key.id, 'default', 117);
    const options = { key: key.secret };

    const statuses = [
      (await list('', options)).status,
      (await add('{', options)).status,
      (await remove('nobody@example.com', options)).status,
      (await list('', options)).status,
    ];

    expect(statuses).toEqual([200, 400, 404, 429]);
  });
});
