import { newId } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { detailsOf, errorOf, openRest, rateOf, startRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

beforeAll(async () => {
  await world.domain('good.test');
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
});
beforeEach(() => world.clock.advance(60_000));

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const inMs = (ms: number) => new Date(world.clock.now() + ms).toISOString();

async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const body = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const response = await rest.call('POST', '/email/send', { body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const move = (id: string, scheduled_at: unknown, key: string | null = world.secret) =>
  rest.call('PATCH', `/email/${id}`, { key, body: { scheduled_at } });
const show = (id: string) => rest.call('GET', `/email/logs/${id}`);
const copiesOf = (id: string) => world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));

/** Processes everything that is due and returns how many copies of a message have reached the sink. */
async function drainAndCount(id: string): Promise<number> {
  await world.drain();
  return copiesOf(id).length;
}

describe('scheduled email', () => {
  it('is sent when due, and not before', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    expect((await show(id)).body).toMatchObject({
      status: 'scheduled',
      recipients: [{ waiting: { reason: 'scheduled', until: inMs(HOUR_MS), last_reply: null } }],
    });

    await world.clock.advance(HOUR_MS - 1);
    expect(await drainAndCount(id)).toBe(0);
    await world.clock.advance(1);
    expect((await show(id)).body).toMatchObject({ recipients: [{ waiting: { reason: 'no_worker', until: null } }] });
    expect(await drainAndCount(id)).toBe(1);
    expect((await show(id)).body.events).toMatchObject([
      { type: 'email.scheduled' },
      { type: 'email.queued' },
      { type: 'email.delivered' },
    ]);
  });

  it('is queued only once for all of its recipients', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS), to: ['ada@example.com', 'bob@example.com'] });
    await world.clock.advance(HOUR_MS);
    await world.drain();

    const events = (await show(id)).body.events as { type: string; sequence: number; recipient_id: string | null }[];
    expect(events.map(({ type, sequence, recipient_id }) => [sequence, type, recipient_id !== null])).toEqual([
      [1, 'email.scheduled', false],
      [2, 'email.queued', false],
      [3, 'email.delivered', true],
      [4, 'email.delivered', true],
    ]);
  });

  it('is sent once even if every process is down at the due time', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    await world.clock.advance(3 * DAY_MS);

    expect(await drainAndCount(id)).toBe(1);
    expect(await drainAndCount(id)).toBe(1);
  });

  it('retains its job even if scheduled for the latest time allowed', async () => {
    const id = await send({ scheduled_at: inMs(366 * DAY_MS) });
    const [job] = await world.services.sql`
      select j.keep_until > r.due_at as kept, j.start_after = r.due_at as due
      from recipients r join pgboss.job j on j.id = r.job_id where r.message_id = ${id}`;

    expect(job).toEqual({ kept: true, due: true });
  });

  it("is not sent early if an API process's clock is ten minutes ahead", async () => {
    const ahead = { ...world.services, clock: { now: () => world.clock.now() + 600_000 } };
    const other = await startRest(ahead, world.secret);
    const id = await send({ scheduled_at: inMs(2 * HOUR_MS) });
    const moved = await other.call('PATCH', `/email/${id}`, { body: { scheduled_at: inMs(HOUR_MS) } });
    await other.stop();
    expect(moved.status, moved.text).toBe(200);

    await world.clock.advance(HOUR_MS - 1);
    expect(await drainAndCount(id)).toBe(0);
    await world.clock.advance(1);
    expect(await drainAndCount(id)).toBe(1);
  });
});

describe('200', () => {
  it('scheduled email is moved to a later time', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    const new_time = inMs(2 * HOUR_MS);

    const response = await move(id, new_time);

    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({
      object: 'email',
      id,
      status: 'scheduled',
      scheduled_at: new_time,
      recipients: [
        { status: 'scheduled', next_attempt_at: new_time, waiting: { reason: 'scheduled', until: new_time } },
      ],
    });
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 120 });
    await world.clock.advance(2 * HOUR_MS - 1);
    expect(await drainAndCount(id)).toBe(0);
    await world.clock.advance(1);
    expect(await drainAndCount(id)).toBe(1);
  });

  it('scheduled email is moved to an earlier time, after which its first job does nothing', async () => {
    const id = await send({ scheduled_at: inMs(5 * HOUR_MS), to: ['ada@example.com', 'bob@example.com'] });

    expect((await move(id, inMs(HOUR_MS))).status).toBe(200);

    await world.clock.advance(HOUR_MS);
    expect(await drainAndCount(id)).toBe(2);
    await world.clock.advance(10 * HOUR_MS);
    expect(await drainAndCount(id)).toBe(2);
  });

  it('email rescheduled to now, or to at most 60 s in the past, is sent immediately', async () => {
    for (const ms of [0, -59_000]) {
      const id = await send({ scheduled_at: inMs(HOUR_MS) });

      const response = await move(id, inMs(ms));

      expect(response.body).toMatchObject({
        scheduled_at: inMs(0),
        recipients: [{ waiting: { reason: 'no_worker' } }],
      });
      expect(await drainAndCount(id)).toBe(1);
    }
  });

  it('queued email can be scheduled', async () => {
    const id = await send();

    expect((await move(id, inMs(HOUR_MS))).body).toMatchObject({ status: 'scheduled', scheduled_at: inMs(HOUR_MS) });

    expect(await drainAndCount(id)).toBe(0);
    await world.clock.advance(HOUR_MS);
    expect(await drainAndCount(id)).toBe(1);
    const types = ((await show(id)).body.events as { type: string }[]).map((event) => event.type);
    expect(types).toEqual(['email.queued', 'email.delivered']);
  });

  it('the last of several reschedules takes effect', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    for (const hours of [9, 2, 7, 4]) expect((await move(id, inMs(hours * HOUR_MS))).status).toBe(200);

    for (let hour = 1; hour <= 10; hour++) {
      await world.clock.advance(HOUR_MS);
      expect(await drainAndCount(id)).toBe(hour < 4 ? 0 : 1);
    }
  });

  it.each(['+02:00', '-11:30', '+14:00'])('the UTC offset %s is accepted', async (offset) => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(offset) ?? [];
    const shift_ms = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    const local = new Date(world.clock.now() + 2 * HOUR_MS + shift_ms).toISOString().replace('Z', offset);

    expect((await move(id, local)).body.scheduled_at).toBe(inMs(2 * HOUR_MS));
  });

  it('the request body sets only the time, regardless of its other fields', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    const other = await send({ scheduled_at: inMs(HOUR_MS) });
    const before = await show(other);

    const response = await rest.call('PATCH', `/email/${id}`, {
      body: { scheduled_at: inMs(2 * HOUR_MS), id: other, status: 'delivered', workspace_id: 'wsp_x', subject: 'Mine' },
    });

    expect(response.body).toMatchObject({ id, status: 'scheduled', subject: 'Hello' });
    expect((await show(other)).text).toBe(before.text);
  });

  it('a race with due deliveries has exactly one winner', async () => {
    await world.services.sql`update plans set default_per_minute = 100000, logs_per_minute = 100000`;
    const ids = await Promise.all(Array.from({ length: 30 }, () => send({ scheduled_at: inMs(HOUR_MS) })));
    await world.clock.advance(HOUR_MS);

    const [responses] = await Promise.all([Promise.all(ids.map((id) => move(id, inMs(HOUR_MS)))), world.drain()]);
    await world.drain();

    for (const [index, id] of ids.entries()) {
      const moved = responses[index]?.status === 200;
      expect([moved, copiesOf(id).length]).toEqual([moved, moved ? 0 : 1]);
    }
    await world.clock.advance(HOUR_MS);
    await world.drain();
    expect(ids.map((id) => copiesOf(id).length)).toEqual(ids.map(() => 1));
  });
});

describe('400', () => {
  it.each(['tomorrow', '', '0', '2031-13-01T00:00:00Z', '2031-06-01', '2031-12-31T23:59:60Z', '2031-06-01T24:00:00Z'])(
    'the time %j is rejected',
    async (text) => {
      const id = await send({ scheduled_at: inMs(HOUR_MS) });
      const response = await move(id, text);

      expect(detailsOf(response)).toEqual(['scheduled_at invalid_timestamp']);
      expect((await show(id)).body.scheduled_at).toBe(inMs(HOUR_MS));
    },
  );

  it('a non-string, missing or misspelled time is rejected', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });

    expect(detailsOf(await move(id, 1_900_000_000))).toEqual(['scheduled_at invalid_type']);
    expect(detailsOf(await move(id, null))).toEqual(['scheduled_at invalid_type']);
    expect(detailsOf(await move(id, undefined))).toEqual(['scheduled_at missing_field']);
    const misspelt = await rest.call('PATCH', `/email/${id}`, { body: { scheduledAt: inMs(HOUR_MS) } });
    expect(detailsOf(misspelt)).toEqual(['scheduledAt misspelled_field', 'scheduled_at missing_field']);
  });
});

describe('403', () => {
  it('the email:send scope is required', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });
    const response = await move(await send({ scheduled_at: inMs(HOUR_MS) }), 'tomorrow', secret);

    expect([response.status, errorOf(response).required_scope]).toEqual([403, 'email:send']);
  });
});

describe('404', () => {
  it('a message in another workspace looks nonexistent', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    const { secret } = await world.workspace('free');
    const absent = newId('message', world.clock.now());

    const responses = await Promise.all([absent, id].map((one) => move(one, inMs(2 * HOUR_MS), secret)));

    const [first, second] = responses.map(({ status, text }) => [
      status,
      text.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1'),
    ]);
    expect(first?.[0]).toBe(404);
    expect(second).toEqual(first);
    expect((await show(id)).body.scheduled_at).toBe(inMs(HOUR_MS));
  });
});

describe('422', () => {
  it('a message with an attempt in progress is rejected', async () => {
    const id = await send();
    await world.drain();

    expect(errorOf(await move(id, inMs(HOUR_MS))).reason).toBe('already_sent');
  });

  it('a canceled message is rejected', async () => {
    const id = await send({ scheduled_at: inMs(HOUR_MS) });
    await rest.call('POST', `/email/${id}/cancel`);

    expect(errorOf(await move(id, inMs(2 * HOUR_MS)))).toMatchObject({
      code: 'unprocessable',
      reason: 'already_canceled',
    });
    await world.clock.advance(3 * HOUR_MS);
    expect(await drainAndCount(id)).toBe(0);
  });

  it('a time more than 60 s in the past or 366 days ahead is rejected, and changes nothing', async () => {
    const scheduled_at = inMs(HOUR_MS);
    const id = await send({ scheduled_at });

    expect(errorOf(await move(id, inMs(-61_000))).reason).toBe('scheduled_in_past');
    expect(errorOf(await move(id, inMs(366 * DAY_MS + 1000))).reason).toBe('scheduled_too_far');
    expect((await show(id)).body.scheduled_at).toBe(scheduled_at);
    expect((await move(id, inMs(366 * DAY_MS))).status).toBe(200);
  });
});
