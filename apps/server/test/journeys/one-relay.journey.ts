import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };
const EMAILS = 400;

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

it('chaos C13: a backlog for one relay waits in the queue, unparked, during a slow first second', async () => {
  const api = await journey.start({ ROLES: 'rest' });
  for (let sent = 0; sent < EMAILS; sent += 100) {
    const batch = Array.from({ length: 100 }, (_, place) => ({ ...hello, to: `to${sent + place}@example.com` }));
    expect((await api.call('POST', '/v1/email/batch', { body: batch })).status).toBeLessThan(300);
  }
  const slow_until = performance.now() + 6000;
  journey.smtp.script(() =>
    performance.now() < slow_until ? { kind: 'stall', until: pause(1000).then(() => 'go on') } : { kind: 'accept' },
  );
  await journey.start({ ROLES: 'worker' });

  let max_parked = 0;
  await expect
    .poll(async () => {
      max_parked = Math.max(max_parked, (await journey.sql`select from parked_deliveries`).length);
      return statesOf(journey.sql);
    }, PATIENCE)
    .toEqual({ delivered: EMAILS });

  expect(max_parked).toBe(0);
});
