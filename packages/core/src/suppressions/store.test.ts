import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { listEvents } from '../events/index.ts';
import { newId } from '../fields/ids.ts';
import { invoke } from '../operation/operation.ts';
import { addSuppressions, type NewSuppression } from './store.ts';

const CAUSE = newId('event', 0);
const world = await openWorld();

function bounced(email: string, fields: Partial<NewSuppression> = {}): NewSuppression {
  const now_ms = world.clock.now();
  return {
    workspace_id: world.workspace_id,
    id: newId('suppression', now_ms),
    event_id: newId('event', now_ms),
    email,
    source: 'bounce',
    reason: '550 5.1.1 no such user',
    source_event_id: null,
    expires_at: null,
    ...fields,
  };
}

function add(...rows: NewSuppression[]) {
  return world.services.sql.begin((tx) => addSuppressions(tx, rows));
}

async function factsOf(email: string): Promise<unknown[]> {
  const { data } = await invoke(world.as(world.workspace_id), listEvents, { type: 'suppression.added', limit: 100 });
  return data.map((event) => event.data.suppression).filter((facts) => (facts as { email: string }).email === email);
}

it('an address is added once, with one event that records the cause', async () => {
  const first = bounced('once@example.com', { source_event_id: CAUSE });

  const added = await add(first, bounced('once@example.com', { id: newId('suppression', world.clock.now()) }));
  const repeat = await add(bounced('once@example.com', { source: 'complaint' }));

  expect(added).toEqual([expect.objectContaining({ id: first.id, email: 'once@example.com' })]);
  expect(repeat).toEqual([]);
  expect(await factsOf('once@example.com')).toEqual([
    {
      id: first.id,
      email: 'once@example.com',
      source: 'bounce',
      reason: '550 5.1.1 no such user',
      source_event_id: CAUSE,
    },
  ]);
});

it('an address whose suppression has expired is suppressed again', async () => {
  const expires_at = new Date(world.clock.now() + 60_000);
  await add(bounced('later@example.com', { expires_at }));
  await world.clock.advance(61_000);
  const next = bounced('later@example.com', { source: 'complaint' });

  expect(await add(next)).toHaveLength(1);

  expect(await factsOf('later@example.com')).toHaveLength(2);
  const rows = await world.services
    .sql`select id, source, expires_at from suppressions where email = 'later@example.com'`;
  expect([...rows]).toEqual([{ id: next.id, source: 'complaint', expires_at: null }]);
});

it('a temporary suppression becomes permanent when a server rejects the mailbox or its owner complains', async () => {
  const expires_at = new Date(world.clock.now() + 60_000);
  for (const source of ['bounce', 'complaint'] as const) {
    await add(bounced(`${source}@example.com`, { source: 'manual', expires_at }));

    expect(await add(bounced(`${source}@example.com`, { source: 'manual' }))).toEqual([]);
    expect(await add(bounced(`${source}@example.com`, { source }))).toMatchObject([{ source, expires_at: null }]);
  }
});

it('an address matches in every equivalent spelling', async () => {
  const added = await add(bounced('Mixed.Case@example.com'), bounced('mixed.case@example.com'));

  expect(added).toMatchObject([{ email: 'mixed.case@example.com' }]);
  expect(await add(bounced('MIXED.CASE@example.com'))).toEqual([]);
});

it('an address suppressed in one workspace is not suppressed in another', async () => {
  const other = await world.workspace('free');

  const added = await add(
    bounced('both@example.com'),
    bounced('both@example.com', { workspace_id: other.workspace_id }),
  );

  expect(added.map((row) => row.workspace_id).sort()).toEqual([world.workspace_id, other.workspace_id].sort());
});
