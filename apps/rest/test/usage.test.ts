import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

describe('200', () => {
  it('unique recipients are counted by month and day, and the monthly count restarts each month', async () => {
    await world.clock.freeze(new Date('2031-01-30T10:00:00Z'));
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('used.test', workspace_id);
    const body = {
      from: 'a@used.test',
      to: ['a@example.com', 'b@example.com', 'a@example.com'],
      subject: 'x',
      text: 'x',
    };
    await rest.call('POST', '/email/send', { key: secret, body });
    await world.clock.advance(86_400_000);
    await rest.call('POST', '/email/send', { key: secret, body });

    const january = await rest.call('GET', '/usage', { key: secret });
    await world.clock.advance(86_400_000);
    const february = await rest.call('GET', '/usage', { key: secret });

    expect(january.body).toMatchObject({
      object: 'usage',
      month: '2031-01',
      used: 4,
      limit: 3000,
      remaining: 2996,
      resets_at: '2031-02-01T00:00:00.000Z',
    });
    const days = january.body.by_day as { date: string; used: number }[];
    expect(days.slice(-2)).toEqual([
      { date: '2031-01-30', used: 2 },
      { date: '2031-01-31', used: 2 },
    ]);
    expect(february.body).toMatchObject({
      month: '2031-02',
      used: 0,
      remaining: 3000,
      by_day: [{ date: '2031-02-01', used: 0 }],
    });
  });

  it('one warning event is emitted at 80% of the monthly quota', async () => {
    await world.clock.freeze(new Date('2032-03-10T10:00:00Z'));
    const { secret: key, workspace_id } = await world.workspace('free');
    await world.domain('warned.test', workspace_id);
    const send = (fields = {}) =>
      rest.call('POST', '/email/send', {
        key,
        body: { from: 'a@warned.test', to: 'a@example.com', subject: 'x', text: 'x', ...fields },
      });
    const warnings = async () => (await rest.call('GET', '/events?type=quota.warning', { key })).body.data;
    await send();
    await world.services.sql`update usage_months set used = 2398 where workspace_id = ${workspace_id}`;

    await send();
    expect(await warnings()).toEqual([]);
    // The first message is stored in one round trip. The second takes two because it is scheduled.
    await send();
    await send({ scheduled_at: '2032-03-10T11:00:00Z' });

    expect(await warnings()).toMatchObject([
      { type: 'quota.warning', data: { quota: { limit: 3000, used: 2400, resets_at: '2032-04-01T00:00:00.000Z' } } },
    ]);
  });

  it('any valid key can read its own usage', async () => {
    const { secret, id } = await world.key({ scopes: ['domains:read'] });

    const usage = await rest.call('GET', '/usage', { key: secret });
    const current = await rest.call('GET', '/api-keys/current', { key: secret });

    expect(usage.body).toMatchObject({ limit: null, remaining: null });
    expect(current.body).toMatchObject({
      object: 'api_key',
      id,
      scopes: ['domains:read'],
      status: 'active',
      plan: 'business',
      limits: {
        monthly_emails: null,
        recipients_per_request: 100,
        send_per_minute: 1000,
        logs_per_minute: 60,
        default_per_minute: 120,
      },
      usage: { object: 'usage' },
    });
    expect(current.text).not.toContain(secret);
  });
});

describe('401', () => {
  it('a request without a key is rejected', async () => {
    const response = await rest.call('GET', '/usage', { key: null });

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
});
