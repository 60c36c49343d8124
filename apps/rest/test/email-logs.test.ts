import { newId } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { closeLane, parkDeliveries } from '@postrider/core/lanes';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillWindow } from './rate-windows.ts';
import { type ApiResponse, type CallOptions, detailsOf, errorOf, openRest, rateOf, startRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
/** A workspace on the Free plan with the messages below, and another workspace whose rows must stay hidden. */
let own: { readonly secret: string; readonly workspace_id: string };
let theirs: { readonly secret: string; readonly workspace_id: string };
let their_message: string;
/** Oldest first. */
const sent: string[] = [];

beforeAll(async () => {
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
  own = await world.workspace('free');
  theirs = await world.workspace('free');
  await world.domain('mine.test', own.workspace_id);
  await world.domain('theirs.test', theirs.workspace_id);
  world.smtp.script((request) =>
    request.to.startsWith('refused') ? { kind: 'reply', code: 550, text: '5.1.1 no such user' } : { kind: 'accept' },
  );
  for (let index = 0; index < 25; index++) {
    // IDs sort by millisecond, and randomly within a millisecond.
    await world.clock.advance(1);
    sent.push(await send(own.secret, index % 5 === 0 ? 'refused@example.com' : `r${index}@example.com`));
  }
  await world.drain();
  const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
  await world.clock.advance(1);
  sent.push(await send(own.secret, 'later@example.com', { scheduled_at }));
  their_message = await send(theirs.secret, 'ada@example.com');
});
beforeEach(() => world.clock.advance(60_000));

async function send(key: string, to: string, extra: Record<string, unknown> = {}): Promise<string> {
  const from = key === own.secret ? 'Mine <a@mine.test>' : 'a@theirs.test';
  const body = { from, to, subject: 'Hello', text: 'the text body', html: '<p>the html body</p>', ...extra };
  const response = await rest.call('POST', '/email/send', { key, body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const logs = (query = '', options: CallOptions = {}) =>
  rest.call('GET', `/email/logs${query}`, { key: own.secret, ...options });

function entriesOf(response: ApiResponse): Record<string, unknown>[] {
  expect(response.status, response.text).toBe(200);
  expect(response.body).toEqual({
    object: 'list',
    data: expect.any(Array),
    has_more: expect.any(Boolean),
    next_cursor: response.body.has_more ? expect.any(String) : null,
  });
  // Safe after the expectation above. Entries are asserted on as JSON.
  return response.body.data as Record<string, unknown>[];
}

const idsOf = (response: ApiResponse) => entriesOf(response).map((entry) => entry.id);

describe('200', () => {
  it("the list shows the workspace's newest twenty messages, without bodies", async () => {
    const response = await logs();

    expect(idsOf(response)).toEqual(sent.toReversed().slice(0, 20));
    expect(response.text).not.toContain('body</p>');
    expect(response.text).not.toContain('the text body');
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('an entry has every documented field', async () => {
    const tagged = await send(own.secret, 'ada@example.com', {
      cc: ['Bob <bob@example.com>'],
      bcc: 'eve@example.com',
      reply_to: 'Desk <desk@mine.test>',
      tags: ['welcome'],
      metadata: { order: '7' },
    });
    await world.drain();

    const [entry] = entriesOf(await logs('?limit=1'));

    const created_at = new Date(world.clock.now()).toISOString();
    expect(entry).toEqual({
      object: 'email',
      id: tagged,
      status: 'delivered',
      captured: true,
      from: 'Mine <a@mine.test>',
      to: ['ada@example.com'],
      cc: ['Bob <bob@example.com>'],
      bcc: ['eve@example.com'],
      reply_to: 'Desk <desk@mine.test>',
      subject: 'Hello',
      tags: ['welcome'],
      metadata: { order: '7' },
      created_at,
      scheduled_at: null,
      sent_at: created_at,
      delivered_at: created_at,
      priority: 'normal',
      retain: 'default',
      recipients: ['to', 'cc', 'bcc'].map((kind, index) => ({
        id: expect.stringMatching(/^rcp_/),
        email: ['ada@example.com', 'bob@example.com', 'eve@example.com'][index],
        kind,
        status: 'delivered',
        captured: true,
        relayed: false,
        confirmed_at: null,
        attempts: 1,
        last_response: expect.stringMatching(/^250 /),
        next_attempt_at: null,
        bounce: null,
        waiting: null,
      })),
      last_event: { type: 'email.delivered', at: created_at },
      message_id: `<${tagged}@mine.test>`,
      api_key_id: expect.stringMatching(/^key_/),
      request_id: expect.stringMatching(/^req_/),
      size_bytes: expect.any(Number),
      resend_of: null,
    });
    sent.push(tagged);
  });

  it('a message is returned with its events in order, and with its attempts', async () => {
    const response = await logs(`/${sent[0]}`);

    expect(response.body).toMatchObject({ id: sent[0], status: 'bounced', object: 'email' });
    expect(response.body.recipients).toMatchObject([{ bounce: { class: 'hard', category: 'mailbox', code: '5.1.1' } }]);
    expect(response.body.events).toMatchObject([
      { type: 'email.queued', sequence: 1 },
      { type: 'email.bounced', sequence: 2 },
    ]);
    expect(response.body.attempts).toMatchObject([
      { number: 1, outcome: 'rejected', reply: { code: 550, enhanced: '5.1.1' } },
    ]);
  });

  it('an open recipient shows the reason for waiting', async () => {
    const [entry] = entriesOf(await logs('?status=scheduled'));

    expect(entry).toMatchObject({
      scheduled_at: expect.any(String),
      sent_at: null,
      recipients: [{ status: 'scheduled', waiting: { reason: 'scheduled', until: entry?.scheduled_at } }],
    });
  });

  it.each([
    ['delivered', /^delivered$/],
    ['bounced', /^bounced$/],
    ['bounced,scheduled', /^(bounced|scheduled)$/],
    ['scheduled, bounced', /^(bounced|scheduled)$/],
  ])('the status %s filters the list', async (status, expected) => {
    const entries = entriesOf(await logs(`?limit=100&status=${encodeURIComponent(status)}`));

    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) expect(entry.status).toMatch(expected);
    const all = entriesOf(await logs('?limit=100')).filter((entry) => expected.test(String(entry.status)));
    expect(entries).toEqual(all);
  });

  it.each([1, 7, 25, 100])('pages of %i entries list every message once', async (limit) => {
    const pages: unknown[][] = [];
    let cursor = '';
    do {
      const page = await logs(`?limit=${limit}${cursor}`);
      pages.push(idsOf(page));
      cursor = page.body.has_more ? `&cursor=${page.body.next_cursor}` : '';
    } while (cursor !== '');

    expect(pages.flat()).toEqual(sent.toReversed());
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  it('pages remain stable when email is accepted between requests', async () => {
    const first = await logs('?limit=10');
    await world.clock.advance(1);
    const newcomer = await send(own.secret, 'new@example.com');

    const second = await logs(`?limit=10&cursor=${first.body.next_cursor}`);

    expect([...idsOf(first), ...idsOf(second)]).toEqual(sent.toReversed().slice(0, 20));
    sent.push(newcomer);
  });

  it('the limit can differ between pages', async () => {
    const first = await logs('?limit=3&status=delivered');
    const second = await logs(`?limit=5&status=delivered&cursor=${first.body.next_cursor}`);

    const all = idsOf(await logs('?limit=100&status=delivered'));
    expect([...idsOf(first), ...idsOf(second)]).toEqual(all.slice(0, 8));
  });

  it('a waiting email shows its destination, the end of its wait, and the last response', async () => {
    const id = await send(own.secret, 'ada@busy.example.com');
    sent.push(id);
    const job = (await world.services.jobs.fetch('delivery.attempt', 10)).find(({ data }) => data.message_id === id);
    if (!job) throw new Error('no job');
    const last_reply = '421 4.7.0 too many';
    await parkDeliveries(world.services, [
      { ...job.data, job, lane: 'busy', priority: 'normal', due_at: new Date(world.clock.now()) },
    ]);
    expect((await logs(`/${id}`)).body.recipients).toMatchObject([{ waiting: { reason: 'no_worker' } }]);
    await closeLane(world.services.sql, { lane: 'busy', seconds: 60, closings: 1, last_reply });

    const response = await logs(`/${id}`);

    const waiting = { reason: 'throttled', until: expect.any(String), last_reply };
    expect(response.body).toMatchObject({ status: 'queued', recipients: [{ attempts: 0, waiting }] });
    expect(entriesOf(await logs('?limit=1'))).toMatchObject([{ id, recipients: [{ waiting }] }]);
  });

  it('the list is empty if there are no messages', async () => {
    const { secret } = await world.workspace('free');

    expect(entriesOf(await logs('', { key: secret }))).toEqual([]);
    expect(entriesOf(await logs('?status=complained'))).toEqual([]);
  });

  it('a message in another workspace is never listed', async () => {
    expect(idsOf(await logs('?limit=100'))).not.toContain(their_message);
    expect(idsOf(await logs('?limit=100', { key: theirs.secret }))).toEqual([their_message]);
  });
});

describe('400', () => {
  const reasonOf = async (query: string): Promise<string> => {
    const response = await logs(query);
    expect([response.status, errorOf(response).code], response.text).toEqual([400, 'invalid_request']);
    return errorOf(response).reason;
  };

  it.each(['0', '101', '-1', '1.5', 'abc', '', '1e1', '0x10', '99999999999999999999', ' 5', 'NaN'])(
    'the limit %j is rejected',
    async (limit) => {
      expect(await reasonOf(`?limit=${encodeURIComponent(limit)}`)).toBe('invalid_limit');
    },
  );

  it('a repeated limit or cursor is rejected', async () => {
    expect(await reasonOf('?limit=5&limit=6')).toBe('invalid_limit');
    expect(await reasonOf('?cursor=a&cursor=b')).toBe('invalid_cursor');
  });

  it.each(['x', 'Delivered', 'delivered;bounced', '', 'delivered,', 'delivered,nope'])(
    'the status %j is rejected, with a list of the known statuses',
    async (status) => {
      const response = await logs(`?status=${encodeURIComponent(status)}`);

      expect(errorOf(response)).toMatchObject({ code: 'invalid_request', reason: 'invalid_status' });
      expect(errorOf(response).message).toContain('scheduled, queued, deferred, sending, failed');
    },
  );

  it('a cursor issued for another workspace, list or filter is rejected', async () => {
    const issued = String((await logs('?limit=2')).body.next_cursor);
    const filtered = String((await logs('?limit=2&status=delivered')).body.next_cursor);
    await rest.call('POST', '/api-keys', { key: own.secret, body: { name: 'Second', scopes: ['email:send'] } });
    const keys = await rest.call('GET', '/api-keys?limit=1', { key: own.secret });
    const flipped = issued.slice(0, 5) + (issued[5] === 'A' ? 'B' : 'A') + issued.slice(6);

    for (const cursor of [
      '',
      'x',
      'AAAA',
      sent[0],
      flipped,
      `${issued}A`,
      `${issued}!`,
      `${issued}==`,
      issued.slice(0, -4),
      filtered,
      keys.body.next_cursor,
      'A'.repeat(5000),
    ]) {
      expect(await reasonOf(`?limit=2&cursor=${cursor}`)).toBe('invalid_cursor');
    }
    expect(await reasonOf(`?status=bounced&cursor=${filtered}`)).toBe('invalid_cursor');
    const foreign = await logs(`?cursor=${issued}`, { key: theirs.secret });
    expect(errorOf(foreign).reason).toBe('invalid_cursor');
  });

  it('every invalid parameter is listed in one response, and a misspelled one with its correct name', async () => {
    expect(detailsOf(await logs('?limit=0&status=x&Cursor=y'))).toEqual([
      'Cursor unknown_parameter',
      'limit invalid_limit',
      'status invalid_status',
    ]);
  });

  it('__proto__ and NUL in a query string are rejected', async () => {
    expect(await reasonOf('?__proto__=x')).toBe('unknown_parameter');
    expect(await reasonOf('?__proto__=x&__proto__=y')).toBe('unknown_parameter');
    expect(await reasonOf('?status=%00')).toBe('invalid_type');
    expect(await reasonOf('/msg_%00')).toBe('invalid_type');
  });
});

describe('GET /email/{id}', () => {
  it('returns the same as /email/logs/{id}, with the same scope (newcomer N8)', async () => {
    const { secret: key } = await world.key({ scopes: ['email:send'] });

    const [local_entry, foreign] = [
      await rest.call('GET', `/email/${sent[0]}`, { key: own.secret }),
      await logs(`/${sent[0]}`),
    ];

    expect([local_entry.status, local_entry.body]).toEqual([200, foreign.body]);
    expect(errorOf(await rest.call('GET', `/email/${sent[0]}`, { key })).required_scope).toBe('email:logs:read');
    expect(errorOf(await rest.call('GET', '/email/msg_absent')).reason).toBe('message_not_found');
    expect(errorOf(await rest.call('GET', '/email/batch')).reason).toBe('route_not_found');
  });
});

describe('401', () => {
  it('the key is checked before anything else', async () => {
    for (const path of ['', '?limit=0', `/${sent[0]}`]) {
      const response = await logs(path, { key: null });

      expect(errorOf(response)).toMatchObject({ code: 'unauthorized', reason: 'missing_key' });
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
    }
  });
});

describe('403', () => {
  it('the email:logs:read scope is required, whatever other scopes a key has', async () => {
    for (const scope of scopes) {
      const { secret } = await world.key({ scopes: [scope] });
      for (const path of ['', '?limit=0', `/${sent[0]}`]) {
        const response = await logs(path, { key: secret });

        if (scope === 'email:logs:read' || scope === 'admin') expect(response.status).not.toBe(403);
        else {
          expect([response.status, errorOf(response).required_scope]).toEqual([403, 'email:logs:read']);
          expect(rateOf(response, world.clock.now()).limit).toBe(path === `/${sent[0]}` ? 120 : 60);
        }
      }
    }
  });
});

describe('404', () => {
  it('a message in another workspace looks nonexistent', async () => {
    const absent = newId('message', world.clock.now());
    const responses = [await logs(`/${absent}`), await logs(`/${their_message}`)];

    const [first, second] = responses.map((response) => ({
      status: response.status,
      text: response.text.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1'),
    }));
    expect(first?.status).toBe(404);
    expect(second).toEqual(first);
    expect((await logs(`/${their_message}`, { key: theirs.secret })).status).toBe(200);
  });

  it.each(['x', 'msg_', 'MSG_01', 'a%2Fb', '%F0%9F%92%A9', "'%20or%201=1--", 'x'.repeat(4000)])(
    'the id %j is not found',
    async (id) => {
      const response = await logs(`/${id}`);

      expect(errorOf(response)).toMatchObject({ code: 'not_found', reason: 'message_not_found' });
      expect(response.text.length).toBeLessThan(1000);
    },
  );
});

describe('429', () => {
  it('the 61st list request in a minute is rejected, while single messages use the default limit', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });
    for (let index = 0; index < 60; index++) {
      const response = await logs('?limit=1', { key: secret });
      expect(rateOf(response, world.clock.now()).remaining).toBe(59 - index);
      const one = await logs(`/${sent[0]}`, { key: secret });
      expect(rateOf(one, world.clock.now())).toMatchObject({ limit: 120, remaining: 119 - index });
    }

    const limited = await logs('?limit=0', { key: secret });

    expect([limited.status, errorOf(limited).reason]).toEqual([429, 'logs_rate']);
    rateOf(limited, world.clock.now());
    await world.clock.advance(60_000);
    expect((await logs('', { key: secret })).status).toBe(200);
  });

  it('the rate limit takes precedence over a missing scope', async () => {
    const { secret, id } = await world.key({ scopes: ['email:send'] });
    await fillWindow(world, id, 'logs', 60);

    expect((await logs('', { key: secret })).status).toBe(429);
  });
});

describe('500', () => {
  it('an internal error includes the rate headers and reveals nothing about the database', async () => {
    const cut = await world.peer();
    await cut.sql.end();
    const lost = await startRest(cut, world.secret);

    for (const path of ['/email/logs', `/email/logs/${sent[0]}`]) {
      const response = await lost.call('GET', path);

      expect([response.status, errorOf(response).code]).toEqual([500, 'internal_error']);
      expect(rateOf(response, world.clock.now())).toMatchObject({
        limit: path.endsWith('logs') ? 60 : 120,
        remaining: 0,
      });
      expect(response.text).not.toMatch(/CONNECTION|select|\.ts/i);
    }
    await lost.stop();
  });
});
