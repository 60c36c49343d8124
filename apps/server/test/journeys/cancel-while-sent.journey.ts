import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

// Together, the clients stay within the rate limit of a key.
const CLIENTS = 10;
const ROUNDS = 11;

let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  journey = await openJourney();
  server = await journey.start();
});
afterAll(() => journey.stop());

it('promise P20, real R19: email canceled while it is being sent never causes a deadlock', async () => {
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const sent = await server.call('POST', '/v1/email/send', { body: hello });
        const canceled = await server.call('POST', `/v1/email/${sent.body.id}/cancel`);
        statuses.set(canceled.status, (statuses.get(canceled.status) ?? 0) + 1);
      }
    }),
  );

  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 422)).toEqual([]);
  expect(server.stderr()).not.toContain('deadlock');
  const [row] = await journey.sql<{ deadlocks: number }[]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  expect(row?.deadlocks).toBe(0);
});
