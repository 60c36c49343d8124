import { describe, expect, it } from 'vitest';
import { countEach, fillWindow } from '../rate-windows.ts';
import { errorOf, rateOf } from '../rest-server.ts';
import { hello, openSender, other, post, rest, send, world } from './send-fixture.ts';

openSender();

describe('429', () => {
  it('the 1,000th request in a minute is accepted, and the 1,001st is rejected', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });
    // A request whose body is rejected also counts against the window, although it stores nothing.
    const first_requests = await Promise.all(Array.from({ length: 999 }, () => post('{', { key: secret })));
    expect(countEach(first_requests.map((response) => response.status))).toEqual(new Map([[400, 999]]));

    const last = await send({}, { key: secret });
    const limited = await send({}, { key: secret });

    expect(last.status).toBe(202);
    expect(rateOf(last, world.clock.now()).remaining).toBe(0);
    expect(errorOf(limited)).toMatchObject({ code: 'rate_limited', reason: 'send_rate' });
    expect(rateOf(limited, world.clock.now()).remaining).toBe(0);
    expect((await post('{', { key: secret })).status).toBe(429);
  });

  it('exactly 1,000 of 1,500 concurrent requests to two processes are allowed', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });

    const responses = await Promise.all(
      Array.from({ length: 1500 }, (_, index) =>
        (index % 2 === 0 ? rest : other).call('POST', '/email/send', { key: secret, body: hello }),
      ),
    );

    expect(countEach(responses.map((response) => response.status))).toEqual(
      new Map([
        [202, 1000],
        [429, 500],
      ]),
    );
    for (const response of responses) rateOf(response, world.clock.now());
  });

  it('the rate limit takes precedence over scope and body errors, but not over an invalid key', async () => {
    const { secret, id } = await world.key({ scopes: ['email:logs:read'] });
    await fillWindow(world, id, 'send', 1000);

    expect((await send({}, { key: secret })).status).toBe(429);
    expect((await send({}, { key: null })).status).toBe(401);
  });

  it('an exhausted rate limit does not affect other keys, other classes or the next minute', async () => {
    const { secret, id } = await world.key({ scopes: ['admin'] });
    await fillWindow(world, id, 'send', 1000);

    expect((await send({}, { key: secret })).status).toBe(429);
    expect((await send()).status).toBe(202);
    expect((await rest.call('GET', '/email/logs', { key: secret })).status).toBe(200);
    await world.clock.advance(60_000);
    expect((await send({}, { key: secret })).status).toBe(202);
  });

  it('a flood of unknown keys from one IP address is rejected, without affecting a valid key', async () => {
    const key = `pr_live_${'0'.repeat(64)}`;

    const responses = await Promise.all(Array.from({ length: 130 }, () => send({}, { key })));

    expect(countEach(responses.map((response) => response.status))).toEqual(
      new Map([
        [401, 120],
        [429, 10],
      ]),
    );
    for (const response of responses.filter(({ status }) => status === 429)) {
      expect(errorOf(response).reason).toBe('address_rate');
      expect(response.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
    }
    expect((await send()).status).toBe(202);
  });
});
