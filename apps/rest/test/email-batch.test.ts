import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

beforeAll(async () => {
  // Windows are counted per minute.
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
});

const mail = (to: string, extra: object = {}) => ({
  from: 'shop@sandbox.test',
  to,
  subject: 'Hello',
  text: 'Hi',
  ...extra,
});

async function countMessages(): Promise<number> {
  const [row] = await world.services.sql<{ count: number }[]>`select count(*)::int as count from messages`;
  return row?.count ?? 0;
}

describe('202', () => {
  it('each message is accepted or rejected individually and in order, using one slot in the send window', async () => {
    const batch = [
      mail('a@example.com'),
      mail('not an address'),
      mail('b@example.com', { from: 'x@unknown.test' }),
      mail('c@example.com'),
    ];

    const first = await rest.call('POST', '/email/batch', { body: batch });
    const second = await rest.call('POST', '/email/batch', { body: { messages: [mail('d@example.com')] } });

    expect(first.status).toBe(202);
    expect(first.body.data).toEqual([
      { id: expect.stringMatching(/^msg_/), status: 'queued', created_at: expect.any(String) },
      { error: expect.objectContaining({ code: 'invalid_request', reason: 'invalid_email' }) },
      { error: expect.objectContaining({ code: 'unprocessable', reason: 'domain_not_verified' }) },
      { id: expect.stringMatching(/^msg_/), status: 'queued', created_at: expect.any(String) },
    ]);
    expect(second.status).toBe(202);
    const used =
      Number(first.headers.get('x-ratelimit-remaining')) - Number(second.headers.get('x-ratelimit-remaining'));
    expect(used).toBe(1);
    await world.drain();
    const messages = await world.smtp.waitFor(3);
    expect(messages.map((one) => one.envelope_to[0]).sort()).toEqual([
      'a@example.com',
      'c@example.com',
      'd@example.com',
    ]);
  });

  it('a repeat under the same key gets a byte-identical response, including rejections, and sends nothing twice', async () => {
    const batch = [mail('twice@example.com'), mail('broken@')];
    const headers = { 'idempotency-key': 'batch-1' };

    const first = await rest.call('POST', '/email/batch', { body: batch, headers });
    const before = await countMessages();
    const repeat = await rest.call('POST', '/email/batch', { body: batch, headers });

    expect(repeat.text).toBe(first.text);
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
    expect(await countMessages()).toBe(before);
  });

  it('monthly volume is checked per message, so a smaller message can still fit', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('small.test', workspace_id);
    await world.services.sql`
      insert into usage_months (workspace_id, month, used)
      values (${workspace_id}, date_trunc('month', clock_now() at time zone 'UTC')::date, 2998)`;
    const from = 'a@small.test';
    const three = ['x@example.com', 'y@example.com', 'z@example.com'];

    const response = await rest.call('POST', '/email/batch', {
      key: secret,
      body: [
        mail('one@example.com', { from }),
        { ...mail('', { from }), to: three },
        mail('two@example.com', { from }),
      ],
    });

    const data = response.body.data as { id?: string; error?: { reason: string } }[];
    expect(data.map((one) => one.error?.reason ?? 'accepted')).toEqual(['accepted', 'quota_exceeded', 'accepted']);
  });
});

describe('all_or_nothing', () => {
  const good = mail('all@example.com');

  it('accepts every message of a valid batch', async () => {
    const before = await countMessages();

    const response = await rest.call('POST', '/email/batch', {
      body: { messages: [good, good], all_or_nothing: true },
    });

    expect(response.status).toBe(202);
    expect(response.body.data).toMatchObject([{ status: 'queued' }, { status: 'queued' }]);
    expect(await countMessages()).toBe(before + 2);
  });

  it('rejects the batch for one invalid message, reports all errors and stores nothing', async () => {
    const before = await countMessages();
    const unknown = { from: 'x@unknown.test' };
    const messages = [good, mail('b@example.com', unknown), good, mail('c@example.com', unknown)];

    const response = await rest.call('POST', '/email/batch', { body: { messages, all_or_nothing: true } });

    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({
      error: {
        reason: 'domain_not_verified',
        message: expect.stringMatching(/^messages\[1\]: unknown\.test/),
        details: [
          { param: expect.stringMatching(/^messages\[1\]/), reason: 'domain_not_verified' },
          { param: expect.stringMatching(/^messages\[3\]/), reason: 'domain_not_verified' },
        ],
      },
    });
    expect(await countMessages()).toBe(before);
  });

  it('rejects a malformed message before any lookup', async () => {
    const messages = [mail('b@example.com', { from: 'x@unknown.test' }), mail('not an address')];

    const response = await rest.call('POST', '/email/batch', { body: { messages, all_or_nothing: true } });

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: { details: [{ param: 'messages[1].to', reason: 'invalid_email' }] } });
  });

  it('frees its Idempotency-Key on rejection, and is distinct from a batch without the option', async () => {
    const headers = { 'idempotency-key': 'whole-1' };
    const bad = [good, mail('not an address')];

    const response = await rest.call('POST', '/email/batch', {
      headers,
      body: { messages: bad, all_or_nothing: true },
    });
    const accepted = await rest.call('POST', '/email/batch', {
      headers,
      body: { messages: [good], all_or_nothing: true },
    });
    const other = await rest.call('POST', '/email/batch', { headers, body: { messages: [good] } });

    expect([response.status, accepted.status, other.status]).toEqual([400, 202, 422]);
    expect(other.body).toMatchObject({ error: { reason: 'idempotency_mismatch' } });
  });

  it('uses no monthly volume when rejected', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('whole.test', workspace_id);
    await world.services.sql`
      insert into usage_months (workspace_id, month, used)
      values (${workspace_id}, date_trunc('month', clock_now() at time zone 'UTC')::date, 2998)`;
    const one = mail('one@example.com', { from: 'a@whole.test' });
    const send = (messages: object[]) =>
      rest.call('POST', '/email/batch', { key: secret, body: { messages, all_or_nothing: true } });

    const three = await send([one, one, one]);
    const two = await send([one, one]);

    expect(three.body).toMatchObject({ error: { reason: 'quota_exceeded' } });
    expect(two.status).toBe(202);
  });
});

describe('400', () => {
  it.each([
    ['an object without messages', {}],
    ['an empty batch', []],
    ['a string', '"x"'],
    ['a word for all_or_nothing', { messages: [mail('a@example.com')], all_or_nothing: 'yes' }],
    ['101 messages', Array.from({ length: 101 }, () => mail('a@example.com'))],
  ])('%s is rejected entirely', async (_name, body) => {
    const before = await countMessages();

    const response = await rest.call('POST', '/email/batch', { body });

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      error: { code: 'invalid_request', request_id: expect.stringMatching(/^req_/) },
    });
    expect(await countMessages()).toBe(before);
  });

  it('a batch with dry_run is not sent', async () => {
    const before = await countMessages();

    const response = await rest.call('POST', '/email/batch?dry_run=true', { body: [mail('a@example.com')] });

    expect(response.status).toBe(400);
    expect(await countMessages()).toBe(before);
  });
});

describe('403', () => {
  it('the email:send scope is required', async () => {
    const { secret } = await world.key({ scopes: ['domains:read'] });

    const response = await rest.call('POST', '/email/batch', { key: secret, body: [mail('a@example.com')] });

    expect(response.status).toBe(403);
    expect(response.body).toMatchObject({ error: { reason: 'missing_scope', required_scope: 'email:send' } });
  });
});
