import { newId } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiResponse, errorOf, openRest, rateOf } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

beforeAll(async () => {
  await world.domain('good.test');
  // The date is far enough from the first of the month that no test crosses it.
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
});
beforeEach(() => world.clock.advance(60_000));

const HOUR_MS = 3_600_000;
const inAnHour = () => new Date(world.clock.now() + HOUR_MS).toISOString();

async function send(fields: Record<string, unknown> = {}, key = world.secret): Promise<string> {
  const body = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const response = await rest.call('POST', '/email/send', { key, body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const cancel = (id: string, key: string | null = world.secret) => rest.call('POST', `/email/${id}/cancel`, { key });
const show = (id: string) => rest.call('GET', `/email/logs/${id}`);
const copiesOf = (id: string) => world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));

async function usage(key = world.secret): Promise<{ used: number; today: number; by_day: unknown[] }> {
  const { body } = await rest.call('GET', '/usage', { key });
  const by_day = body.by_day as { date: string; used: number }[];
  return { used: Number(body.used), today: by_day.at(-1)?.used ?? 0, by_day };
}

const eventsOf = (response: ApiResponse) =>
  response.body.events as { type: string; sequence: number; recipient_id: unknown }[];

describe('200', () => {
  it('scheduled email is canceled and never sent', async () => {
    const id = await send({ scheduled_at: inAnHour(), to: ['ada@example.com', 'bob@example.com'] });

    const response = await cancel(id);

    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({
      object: 'email',
      id,
      status: 'canceled',
      sent_at: null,
      recipients: [
        { status: 'canceled', attempts: 0, waiting: null, next_attempt_at: null },
        { status: 'canceled', attempts: 0, waiting: null, next_attempt_at: null },
      ],
      last_event: { type: 'email.canceled' },
    });
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 120 });
    await world.clock.advance(2 * HOUR_MS);
    await world.drain();
    expect(copiesOf(id)).toEqual([]);
    expect((await show(id)).body.status).toBe('canceled');
  });

  it('one event is recorded for the entire message', async () => {
    const id = await send({ scheduled_at: inAnHour(), to: ['ada@example.com', 'bob@example.com'] });
    await cancel(id);

    expect(eventsOf(await show(id))).toMatchObject([
      { type: 'email.scheduled', sequence: 1, recipient_id: null },
      { type: 'email.canceled', sequence: 2, recipient_id: null },
    ]);
  });

  it('queued email is canceled', async () => {
    const id = await send();

    expect((await cancel(id)).body).toMatchObject({ status: 'canceled' });
    expect(await world.drain()).toEqual([]);
    expect(copiesOf(id)).toEqual([]);
  });

  it('a second cancellation gets the same response, and changes neither events nor volume', async () => {
    const before = await usage();
    const id = await send({ scheduled_at: inAnHour(), to: ['ada@example.com', 'bob@example.com'] });
    expect((await usage()).used).toBe(before.used + 2);

    const first = await cancel(id);
    const repeats = await Promise.all([cancel(id), cancel(id), cancel(id)]);

    expect(repeats.map(({ status, text }) => [status, text])).toEqual(repeats.map(() => [200, first.text]));
    expect(await usage()).toEqual(before);
    expect(eventsOf(await show(id))).toHaveLength(2);
  });

  it('twenty concurrent cancellations return the volume only once', async () => {
    const before = await usage();
    const ids = await Promise.all(Array.from({ length: 5 }, () => send({ scheduled_at: inAnHour() })));

    await Promise.all(Array.from({ length: 20 }, (_, index) => cancel(ids[index % 5] ?? '')));

    expect(await usage()).toEqual(before);
  });

  it('the volume is returned to the day on which it was counted', async () => {
    const before = await usage();
    const id = await send({ scheduled_at: new Date(world.clock.now() + 72 * HOUR_MS).toISOString() });
    await world.clock.advance(48 * HOUR_MS);
    const usage_after = await usage();

    await cancel(id);

    const after = await usage();
    expect(after.used).toBe(usage_after.used - 1);
    expect(after.by_day).toEqual([...before.by_day, expect.anything(), expect.anything()]);
    expect(after.today).toBe(usage_after.today);
  });

  it('a cancellation frees volume in a month whose quota is used up', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('full.test', workspace_id);
    await world.services.sql`
      insert into usage_months (workspace_id, month, used)
      values (${workspace_id}, date_trunc('month', clock_now(), 'UTC')::date, 2999)`;
    const mail = { from: 'a@full.test', scheduled_at: inAnHour() };
    const id = await send(mail, secret);
    const body = { to: 'ada@example.com', subject: 'x', text: 'x', ...mail };
    expect(errorOf(await rest.call('POST', '/email/send', { key: secret, body })).reason).toBe('quota_exceeded');

    expect((await cancel(id, secret)).status).toBe(200);

    expect((await rest.call('POST', '/email/send', { key: secret, body })).status).toBe(202);
  });

  it('email sent with a sandbox key returns no volume, since it used none', async () => {
    const { secret } = await world.key({ scopes: ['email:send'], mode: 'sandbox' });
    const before = await usage();
    const id = await send({ scheduled_at: inAnHour() }, secret);

    expect((await cancel(id)).status).toBe(200);

    expect(await usage()).toEqual(before);
  });

  it('a suppressed recipient stays unchanged and returns no volume, since it used none', async () => {
    await world.services.sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${world.workspace_id}, ${newId('suppression', world.clock.now())}, 'gone@example.com', 'manual', clock_now())`;
    const before = await usage();
    const id = await send({ scheduled_at: inAnHour(), to: ['ada@example.com', 'gone@example.com'] });

    const response = await cancel(id);

    const recipients = response.body.recipients as { email: string; status: string }[];
    expect(new Map(recipients.map(({ email, status }) => [email, status]))).toEqual(
      new Map([
        ['ada@example.com', 'canceled'],
        ['gone@example.com', 'suppressed'],
      ]),
    );
    expect(await usage()).toEqual(before);
    expect((await cancel(id)).text).toBe(response.text);
  });
});

describe('a race between a cancellation and a due delivery', () => {
  it('has exactly one winner', async () => {
    await world.services.sql`update plans set default_per_minute = 100000`;
    const before = await usage();
    const rounds = 50;
    const ids = await Promise.all(
      Array.from({ length: rounds }, (_, index) =>
        send({
          scheduled_at: inAnHour(),
          to: index % 2 === 0 ? 'ada@example.com' : ['ada@example.com', 'bob@example.com'],
        }),
      ),
    );
    await world.clock.advance(HOUR_MS);

    const [responses] = await Promise.all([Promise.all(ids.map((id) => cancel(id))), world.drain()]);
    await world.drain();

    let sent = 0;
    for (const [index, id] of ids.entries()) {
      const response = responses[index];
      const rows = await world.services.sql<{ status: string; copies: number }[]>`
        select status, recipient_count as copies from messages where id = ${id}`;
      const copies = rows[0]?.copies ?? 0;
      const won = response?.status === 200;
      if (!won) expect(response && errorOf(response).reason).toBe('already_sent');
      expect([rows[0]?.status, copiesOf(id).length]).toEqual(won ? ['canceled', 0] : ['delivered', copies]);
      if (!won) sent += copies;
    }
    expect((await usage()).used).toBe(before.used + sent);
  });
});

describe('403', () => {
  it('the email:send scope is required', async () => {
    const id = await send({ scheduled_at: inAnHour() });
    for (const scope of scopes.filter((one) => one !== 'email:send' && one !== 'admin')) {
      const { secret } = await world.key({ scopes: [scope] });
      const response = await cancel(id, secret);

      expect([response.status, errorOf(response).required_scope]).toEqual([403, 'email:send']);
    }
  });

  it('a key restricted to other domains cannot cancel the message', async () => {
    const id = await send({ scheduled_at: inAnHour() });
    const { secret } = await world.key({ scopes: ['email:send'], domains: ['other.test'] });

    const response = await cancel(id, secret);

    expect([response.status, errorOf(response).reason]).toEqual([403, 'key_domain_restricted']);
    expect((await show(id)).body.status).toBe('scheduled');
  });
});

describe('404', () => {
  it('a message in another workspace looks nonexistent', async () => {
    const id = await send({ scheduled_at: inAnHour() });
    const { secret } = await world.workspace('free');

    const responses = await Promise.all([cancel(newId('message', world.clock.now()), secret), cancel(id, secret)]);

    const [absent, foreign] = responses.map(({ status, text }) => [
      status,
      text.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1'),
    ]);
    expect(absent?.[0]).toBe(404);
    expect(foreign).toEqual(absent);
    expect((await show(id)).body.status).toBe('scheduled');
  });
});

describe('422', () => {
  it('a sent message cannot be canceled', async () => {
    const id = await send();
    await world.drain();
    const before = await usage();

    const response = await cancel(id);

    expect([response.status, errorOf(response).reason]).toEqual([422, 'already_sent']);
    expect(await usage()).toEqual(before);
    expect((await show(id)).body.status).toBe('delivered');
  });

  it('a message with an attempted recipient cannot be canceled, even while waiting for a retry', async () => {
    world.smtp.script(({ to }) =>
      to.startsWith('busy') ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' },
    );
    const deferred = await send({ to: 'busy@example.com' });
    const mixed = await send({ to: ['busy@example.com', 'ada@example.com'] });
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));

    for (const id of [deferred, mixed]) expect(errorOf(await cancel(id)).reason).toBe('already_sent');
    expect((await show(deferred)).body).toMatchObject({
      status: 'deferred',
      recipients: [{ waiting: { reason: 'retry_backoff', until: expect.any(String), last_reply: '451 4.3.0 later' } }],
    });
  });
});
