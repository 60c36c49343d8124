import { idTime, newId } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiResponse, detailsOf, errorOf, openRest, rateOf } from './rest-server.ts';

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly sequence: number;
  readonly email_id: string;
  readonly data: Record<string, unknown>;
}

const world = await openWorld();
const rest = await openRest(world);
let own: { readonly secret: string; readonly workspace_id: string };
let theirs: { readonly secret: string; readonly workspace_id: string };
const sent: string[] = [];
/** Every event of the workspace, newest first, collected from its messages' timelines. */
let all: Entry[];

beforeAll(async () => {
  await world.services.sql`update plans set logs_per_minute = 100000, default_per_minute = 100000`;
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
  own = await world.workspace('free');
  theirs = await world.workspace('free');
  await world.domain('mine.test', own.workspace_id);
  await world.domain('theirs.test', theirs.workspace_id);
  world.smtp.script(({ to }) => {
    if (to.startsWith('refused')) return { kind: 'reply', code: 550, text: '5.7.1 not from you' };
    return to.startsWith('busy') ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' };
  });
  const people = ['ada', 'refused', 'busy', 'bob'];
  for (let index = 0; index < 16; index++) {
    await world.clock.advance(1000);
    const scheduled_at = index % 5 === 4 ? new Date(world.clock.now() + 3_600_000).toISOString() : undefined;
    const to = index % 3 === 2 ? people.map((name) => `${name}@example.com`) : `${people[index % 4]}@example.com`;
    sent.push(await send(own.secret, { to, scheduled_at, tags: ['t'], metadata: { n: `${index}` } }));
    await world.drain();
  }
  await rest.call('POST', `/email/${sent[4]}/cancel`, { key: own.secret });
  await send(theirs.secret, { from: 'a@theirs.test' });
  const timelines = await Promise.all(sent.map((id) => rest.call('GET', `/email/logs/${id}`, { key: own.secret })));
  all = timelines
    .flatMap((response) => response.body.events as Entry[])
    .sort((left, right) => (left.id < right.id ? 1 : -1));
});
beforeEach(() => world.clock.advance(60_000));

async function send(key: string, fields: Record<string, unknown>): Promise<string> {
  const body = {
    from: 'The shop <a@mine.test>',
    to: 'ada@example.com',
    subject: 'Hello',
    text: 'a secret body',
    ...fields,
  };
  const response = await rest.call('POST', '/email/send', { key, body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const events = (query = '', key: string | null = own.secret) => rest.call('GET', `/events${query}`, { key });

function entriesOf(response: ApiResponse): Entry[] {
  expect(response.status, response.text).toBe(200);
  return response.body.data as Entry[];
}

async function walk(query: URLSearchParams, limit: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const page = new URLSearchParams(query);
  page.set('limit', String(limit));
  for (;;) {
    const response = await events(`?${page}`);
    entries.push(...entriesOf(response));
    if (!response.body.has_more) return entries;
    page.set('cursor', String(response.body.next_cursor));
  }
}

describe('200', () => {
  it("the list shows the workspace's newest twenty events, as in each message's timeline", async () => {
    const response = await events();

    expect(entriesOf(response)).toEqual(all.slice(0, 20));
    expect(response.body).toMatchObject({ object: 'list', has_more: true, next_cursor: expect.any(String) });
    expect(response.text).not.toContain('a secret body');
    rateOf(response, world.clock.now());
  });

  it('an event shows its message and its recipient', async () => {
    const [event] = entriesOf(await events(`?type=email.bounced&email_id=${sent[2]}`));

    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'email.bounced',
      created_at: expect.stringMatching(/Z$/),
      sequence: expect.any(Number),
      email_id: sent[2],
      recipient_id: expect.stringMatching(/^rcp_/),
      data: {
        email: {
          id: sent[2],
          from: 'The shop <a@mine.test>',
          to: ['ada@example.com', 'refused@example.com', 'busy@example.com', 'bob@example.com'],
          subject: 'Hello',
          tags: ['t'],
          metadata: { n: '2' },
          message_id: `<${sent[2]}@mine.test>`,
          created_at: expect.any(String),
        },
        recipient: { id: event && Reflect.get(event, 'recipient_id'), email: 'refused@example.com', status: 'bounced' },
        attempt: 1,
        category: 'policy',
        response: '550 5.7.1 not from you',
        bounce: { class: 'soft', category: 'policy', code: '5.7.1' },
      },
    });
    const [queued] = entriesOf(await events(`?type=email.queued&email_id=${sent[2]}`));
    expect(queued).toMatchObject({
      recipient_id: null,
      sequence: 1,
      data: { recipient: null, email: { id: sent[2] } },
    });
    const [delayed] = entriesOf(await events(`?type=email.delivery_delayed&email_id=${sent[2]}`));
    expect(delayed).toMatchObject({ data: { recipient: { email: 'busy@example.com', status: 'deferred' } } });
  });

  it('the list matches a reference filter written in plain code, for any filters and page size', async () => {
    const types = [...new Set(all.map((event) => event.type)), 'email.complained'];
    const first = idTime(all.at(-1)?.id ?? '');
    const instant = fc.integer({ min: first - 1000, max: idTime(all[0]?.id ?? '') + 1000 });
    const filters = fc.record(
      {
        type: fc.subarray(types, { minLength: 1 }),
        email_id: fc.constantFrom(...sent, 'msg_x'),
        since: instant,
        until: instant,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async ({ type, email_id, since, until }, limit) => {
        const query = new URLSearchParams();
        if (type) query.set('type', type.join(','));
        if (email_id) query.set('email_id', email_id);
        if (since !== undefined) query.set('since', new Date(since).toISOString());
        if (until !== undefined) query.set('until', new Date(until).toISOString());

        const entries = await walk(query, limit);

        const expected = all.filter(
          (event) =>
            (!type || type.includes(event.type)) &&
            (!email_id || event.email_id === email_id) &&
            (since === undefined || idTime(event.id) >= since) &&
            (until === undefined || idTime(event.id) < until),
        );
        expect(entries).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("each message's events are numbered without gaps", async () => {
    for (const id of sent) {
      const numbers = all.filter((event) => event.email_id === id).map((event) => event.sequence);
      expect(numbers.toSorted((left, right) => left - right)).toEqual(numbers.map((_, index) => index + 1));
    }
  });

  it('an event in another workspace is never listed', async () => {
    const theirs_seen = entriesOf(await events('', theirs.secret));

    expect(theirs_seen.map((event) => event.type)).toEqual(['email.queued']);
    expect(entriesOf(await events(`?email_id=${theirs_seen[0]?.email_id}`))).toEqual([]);
  });
});

describe('400', () => {
  it.each(['nope', '', 'email.queued,', 'email.queued,nope', 'Email.queued'])(
    'the type %j is rejected, with a list of the known types',
    async (type) => {
      const response = await events(`?type=${encodeURIComponent(type)}`);

      expect(errorOf(response)).toMatchObject({ code: 'invalid_request', reason: 'invalid_type' });
      expect(errorOf(response).message).toContain('email.delivered');
    },
  );

  it('every invalid parameter is listed in one response', async () => {
    expect(detailsOf(await events('?limit=0&since=x&until=y&types=z'))).toEqual([
      'types unknown_parameter',
      'limit invalid_limit',
      'since invalid_timestamp',
      'until invalid_timestamp',
    ]);
  });

  it('a cursor from another list, filter or workspace is rejected', async () => {
    const issued = String((await events('?limit=1')).body.next_cursor);
    const logs = String((await rest.call('GET', '/email/logs?limit=1', { key: own.secret })).body.next_cursor);

    expect(errorOf(await events(`?cursor=${logs}`)).reason).toBe('invalid_cursor');
    expect(errorOf(await events(`?type=email.queued&cursor=${issued}`)).reason).toBe('invalid_cursor');
    expect(errorOf(await events(`?cursor=${issued}`, theirs.secret)).reason).toBe('invalid_cursor');
    expect((await events(`?cursor=${issued}`)).status).toBe(200);
  });
});

describe('401', () => {
  it('a request without a key is rejected', async () => {
    expect(errorOf(await events('', null)).reason).toBe('missing_key');
  });
});

describe('403', () => {
  it('the email:logs:read scope is required', async () => {
    for (const scope of scopes.filter((one) => one !== 'email:logs:read' && one !== 'admin')) {
      const { secret } = await world.key({ scopes: [scope] });

      expect(errorOf(await events('', secret)).required_scope).toBe('email:logs:read');
    }
  });
});

it('the event list is empty for a nonexistent message', async () => {
  expect(entriesOf(await events(`?email_id=${newId('message', world.clock.now())}`))).toEqual([]);
});
