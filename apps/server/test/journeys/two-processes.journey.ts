import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ApiResponse, ServerProcess } from '../server-process.ts';

let journey: Journey;
let servers: readonly ServerProcess[];
beforeAll(async () => {
  journey = await openJourney();
  servers = [await journey.start(), await journey.start({ ROLES: 'rest' })];
});
afterAll(() => journey.stop());

/** Sends all requests concurrently, alternating between the two processes. */
function inParallel(count: number, idempotency_key: string | null): Promise<ApiResponse[]> {
  return Promise.all(
    Array.from({ length: count }, (_, number) => {
      const server = servers[number % servers.length];
      if (!server) throw new Error('no process runs');
      const headers = idempotency_key === null ? {} : { 'idempotency-key': idempotency_key };
      return server.call('POST', '/v1/email/send', { body: hello, headers });
    }),
  );
}

describe('two API processes', () => {
  it('produce one message and one copy for fifty concurrent duplicates with the same idempotency key', async () => {
    const responses = await inParallel(50, 'the-one');

    expect(responses.map((response) => response.status)).toEqual(Array(50).fill(202));
    expect(new Set(responses.map((response) => response.body.id)).size).toBe(1);
    expect(responses.filter((response) => response.headers.get('idempotent-replayed') === 'true')).toHaveLength(49);
    await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ delivered: 1 });
    expect([...copiesOf(journey.smtp).values()]).toEqual([{ copies: 1, bodies: 1 }]);
    const [usage] = await journey.sql`select used from usage_months`;
    expect(usage).toEqual({ used: 1 });
  });

  it('together allow exactly as many requests as one rate limit permits', async () => {
    await journey.clock.freeze(new Date('2031-03-01T12:00:00Z'));

    const responses = await inParallel(1500, null);

    const counts = Map.groupBy(responses, (response) => response.status);
    expect([...counts].map(([status, group]) => [status, group.length]).sort()).toEqual([
      [202, 1000],
      [429, 500],
    ]);
    const remaining = (counts.get(202) ?? []).map((response) => Number(response.headers.get('x-ratelimit-remaining')));
    expect(remaining.sort((left, right) => left - right)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    const [stored] = await journey.sql`select count(*)::int as count from messages where created_at >= '2031-01-01'`;
    expect(stored).toEqual({ count: 1000 });
    await journey.clock.unfreeze();
  });
});
