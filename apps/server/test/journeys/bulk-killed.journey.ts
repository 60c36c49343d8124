import { afterEach, beforeEach, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';

let journey: Journey;
beforeEach(async () => {
  journey = await openJourney();
});
afterEach(() => journey.stop());

const HOUR_MS = 3_600_000;
const PAST_EVERY_LEASE_MS = 60_000;

it('a bulk operation whose worker dies continues on another worker, and processes each item once', async () => {
  const api = await journey.start({ ROLES: 'rest,admin' });
  const scheduled_at = new Date(journey.clock.now() + HOUR_MS).toISOString();
  const messages = Array.from({ length: 60 }, () => ({ ...hello, tags: ['campaign'], scheduled_at }));
  await api.call('POST', '/v1/email/batch', { body: { messages } });
  const ask = async (query: string, variables: object) => {
    const { body } = await api.call('POST', '/graphql', { body: { query, variables } });
    return body.data as Record<string, { token: string; bulk: { id: string } }>;
  };
  const { bulkPreview } = await ask(
    `mutation { bulkPreview(input: { action: CANCEL, messages: { tags: ["campaign"] } }) { ... on BulkPreview { token } } }`,
    {},
  );
  const { bulkRun } = await ask(
    `mutation ($token: String!) {
      bulkRun(input: { token: $token, reason: "a mistake", ratePerSecond: 10 }) { ... on BulkPayload { bulk { id } } }
    }`,
    { token: bulkPreview?.token },
  );
  const id = bulkRun?.bulk.id ?? '';
  const state = async () => {
    const [row] = await journey.sql<{ status: string; done: number }[]>`
      select status, done from bulk_operations where id = ${id}`;
    return row;
  };
  const first = await journey.start({ ROLES: 'worker' });
  await expect.poll(async () => (await state())?.done ?? 0, { timeout: 30_000 }).toBeGreaterThan(0);

  await first.kill();
  const bulk = await state();
  await journey.start({ ROLES: 'worker' });
  await journey.clock.advance(PAST_EVERY_LEASE_MS);
  await expect.poll(async () => (await state())?.status, { timeout: 40_000 }).toBe('completed');

  expect(bulk).toMatchObject({ status: 'running' });
  expect(bulk?.done).toBeLessThan(60);
  const [receipts] = await journey.sql`
    select count(*)::int as items, count(distinct item_id)::int as messages from bulk_items
    where bulk_id = ${id} and outcome = 'done'`;
  expect(receipts).toEqual({ items: 60, messages: 60 });
  const events = await journey.sql`
    select count(*)::int as canceled from events where type = 'email.canceled' group by message_id`;
  expect(events.map(({ canceled }) => canceled)).toEqual(Array(60).fill(1));
});
