import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabaseProxy } from '../database-proxy.ts';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';

const EMAILS = 60;
const GAP_MS = 50;
const REPLY_MS = 400;

let journey: Journey;
beforeEach(async () => {
  journey = await openJourney();
});
afterEach(() => journey.stop());

describe('a worker cut off from the database', () => {
  it.each([
    ['resend', 3000],
    ['stop', 8000],
  ])(
    'fairness N1: sends nothing twice and loses nothing, with the policy %s after %s ms',
    async (policy, away_ms) => {
      const api = await journey.start({ ROLES: 'rest' });
      const proxy = await openDatabaseProxy(journey.env.DATABASE_URL ?? '');
      await journey.start({ ROLES: 'worker', DATABASE_URL: proxy.url });
      await journey.start({ ROLES: 'worker' });
      await journey.sql`update workspaces set unknown_policy = ${policy}`;
      journey.smtp.script(({ stage }) =>
        stage === 'data' ? { kind: 'stall', until: pause(REPLY_MS), at: 'data' } : { kind: 'accept' },
      );

      const outage = (async () => {
        await pause(1000);
        await proxy.close();
        await pause(away_ms);
        await proxy.open();
      })();
      for (let number = 0; number < EMAILS; number++) {
        const sent = await api.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
        expect(sent.status).toBe(202);
        await pause(GAP_MS);
      }
      await outage;

      await expect.poll(() => statesOf(journey.sql), { timeout: 180_000 }).toEqual({ delivered: EMAILS });
      const copies = [...copiesOf(journey.smtp).values()];
      expect(copies).toHaveLength(EMAILS);
      expect(copies.filter((copy) => copy.copies > 1)).toEqual([]);
      await proxy.close();
    },
    240_000,
  );
});
