import { newId } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beforeSigning } from './before-signing.ts';
import { fillWindow } from './rate-windows.ts';
import { errorOf, openRest, rateOf } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

beforeAll(async () => {
  await world.domain('good.test');
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
});
beforeEach(() => world.clock.advance(60_000));

const full = {
  from: 'The shop <hello@good.test>',
  to: ['Ada Lovelace <ada@example.com>', 'bob@example.com'],
  cc: ['carl@example.com'],
  bcc: ['eve@example.com'],
  reply_to: 'Desk <desk@good.test>',
  subject: 'Grüße 👋',
  html: '<p>Hello <b>there</b></p>',
  text: 'Hello there',
  headers: { 'X-Order': '7', 'List-Unsubscribe': '<https://good.test/u>' },
  tags: ['receipt', 'shop'],
  metadata: { order: '7' },
  attachments: [{ filename: 'a.txt', content: Buffer.from('attached').toString('base64'), content_type: 'text/plain' }],
};

async function send(fields: Record<string, unknown> = {}, key = world.secret): Promise<string> {
  const body = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const response = await rest.call('POST', '/email/send', { key, body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const resend = (id: string, key: string | null = world.secret, headers: Record<string, string> = {}) =>
  rest.call('POST', `/email/${id}/resend`, { key, headers });
const show = (id: string) => rest.call('GET', `/email/logs/${id}`);
const copiesOf = (id: string) => world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));

/**
 * Returns a copy without the parts that identify the message: its ID, the signatures, and the boundary and date derived
 * from it.
 */
function textOf(id: string, to: string): string {
  const copy = copiesOf(id).find((mail) => mail.envelope_to[0] === to);
  const raw = copy ? beforeSigning(copy.raw) : '';
  const boundary = /boundary="?([^";\r\n]+)/.exec(raw)?.[1] ?? '\n';
  return raw
    .replaceAll(id, 'ID')
    .replaceAll(boundary.slice(0, 12), 'BOUNDARY')
    .replaceAll(/^Date: .*$/gm, 'Date')
    .replaceAll(/boundary="[^"]+"|^--.*$/gm, 'BOUNDARY');
}

describe('202', () => {
  it('a resend creates a new message that has the same content and refers to the original', async () => {
    const old = await send(full);
    await world.drain();
    await world.clock.advance(1000);

    const response = await resend(old);

    expect(response.status, response.text).toBe(202);
    const id = String(response.body.id);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^msg_/),
      status: 'queued',
      created_at: expect.any(String),
    });
    expect(id).not.toBe(old);
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 120 });
    await world.drain();
    const [before, after] = [(await show(old)).body, (await show(id)).body];
    expect([before.resend_of, after.resend_of]).toEqual([null, old]);
    for (const field of ['from', 'to', 'cc', 'bcc', 'reply_to', 'subject', 'tags', 'metadata', 'status'])
      expect(after[field], field).toEqual(before[field]);
    expect(after.message_id).not.toBe(before.message_id);
    for (const to of ['ada@example.com', 'bob@example.com', 'carl@example.com', 'eve@example.com']) {
      expect(copiesOf(id).filter((mail) => mail.envelope_to[0] === to)).toHaveLength(1);
      expect(textOf(id, to)).toBe(textOf(old, to));
    }
    expect(copiesOf(old)).toHaveLength(4);
  });

  it("a resend does not wait for the original's scheduled time", async () => {
    const old = await send({ scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() });

    const id = String((await resend(old)).body.id);
    await world.drain();

    expect((await show(id)).body).toMatchObject({ status: 'delivered', scheduled_at: null });
    expect((await show(old)).body.status).toBe('scheduled');
  });

  it('canceled and bounced email can be resent', async () => {
    world.smtp.script(() => ({ kind: 'reply', code: 550, text: '5.7.1 no' }));
    const old = await send();
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));
    expect((await show(old)).body.status).toBe('bounced');

    const id = String((await resend(old)).body.id);
    await world.drain();

    expect((await show(id)).body.status).toBe('delivered');
    expect((await show(old)).body.status).toBe('bounced');
  });

  it('a resend counts toward the monthly volume like any other email', async () => {
    const used = async () => Number((await rest.call('GET', '/usage')).body.used);
    const old = await send(full);
    const before = await used();

    await resend(old);

    expect(await used()).toBe(before + 4);
  });

  it('a repeat under the same Idempotency-Key gets a byte-identical response', async () => {
    const old = await send();
    const keyed = { 'idempotency-key': 'again-1' };

    const responses = await Promise.all([1, 2, 3, 4].map(() => resend(old, world.secret, keyed)));

    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(3);
    const other = await resend(await send(), world.secret, keyed);
    expect(errorOf(other).reason).toBe('idempotency_mismatch');
  });

  it('a request body is ignored', async () => {
    const old = await send();

    const response = await rest.call('POST', `/email/${old}/resend`, {
      body: { to: 'spy@example.com', workspace_id: 'wsp_x', status: 'delivered', scheduled_at: '2031-06-01T00:00:00Z' },
    });
    await world.drain();

    expect(copiesOf(String(response.body.id)).map((mail) => mail.envelope_to)).toEqual([['ada@example.com']]);
  });
});

describe('403', () => {
  it('the email:send scope is required', async () => {
    const id = await send();
    for (const scope of scopes.filter((one) => one !== 'email:send' && one !== 'admin')) {
      const { secret } = await world.key({ scopes: [scope] });
      const response = await resend(id, secret);

      expect([response.status, errorOf(response).required_scope]).toEqual([403, 'email:send']);
    }
  });

  it('a domain-restricted key cannot resend from other domains', async () => {
    await world.domain('other.test');
    const { secret } = await world.key({ scopes: ['email:send'], domains: ['other.test'] });

    expect(errorOf(await resend(await send(), secret)).reason).toBe('key_domain_restricted');
  });
});

describe('404', () => {
  it('a message in another workspace looks nonexistent', async () => {
    const id = await send();
    const { secret } = await world.workspace('free');
    await world.drain();
    const messages = world.smtp.messages.length;

    const responses = await Promise.all([newId('message', world.clock.now()), id].map((one) => resend(one, secret)));

    const [absent, foreign] = responses.map(({ status, text }) => [
      status,
      text.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1'),
    ]);
    expect(absent?.[0]).toBe(404);
    expect(foreign).toEqual(absent);
    await world.drain();
    expect(world.smtp.messages.length).toBe(messages);
  });
});

describe('429', () => {
  it('a resend counts toward the send window', async () => {
    const id = await send();
    const key = await world.key({ scopes: ['email:send', 'email:logs:read'] });
    await fillWindow(world, key.id, 'send', 999);

    const last = await resend(id, key.secret);
    const limited = await resend(id, key.secret);

    expect(rateOf(last, world.clock.now())).toMatchObject({ limit: 120, remaining: 119 });
    expect(errorOf(limited)).toMatchObject({ code: 'rate_limited', reason: 'send_rate' });
    expect(rateOf(limited, world.clock.now())).toMatchObject({ limit: 1000, remaining: 0 });
    expect(limited.headers.get('ratelimit-policy')).toBe('"send";q=1000;w=60');
  });
});

describe('422', () => {
  it('the domain, suppressions and monthly volume are checked again', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('brief.test', workspace_id);
    const { sql } = world.services;
    const old = await send({ from: 'a@brief.test' }, secret);

    await sql`
      insert into usage_months (workspace_id, month, used)
      values (${workspace_id}, date_trunc('month', clock_now(), 'UTC')::date, 3000)
      on conflict (workspace_id, month) do update set used = excluded.used`;
    expect(errorOf(await resend(old, secret)).reason).toBe('quota_exceeded');
    await sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${workspace_id}, ${newId('suppression', world.clock.now())}, 'ada@example.com', 'manual', clock_now())`;
    expect(errorOf(await resend(old, secret)).reason).toBe('all_recipients_suppressed');
    await sql`update domains set status = 'failed' where workspace_id = ${workspace_id}`;
    expect(errorOf(await resend(old, secret)).reason).toBe('domain_not_verified');
  });
});
