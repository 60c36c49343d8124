import { connect, type Sql } from '@postrider/db';
import { createDatabase, type TestDatabase } from '@postrider/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeliveryState, deliveryStates, messageStatus, openStates, transitions } from './state.ts';

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createDatabase();
  sql = connect(database.url, { max: 1, application_name: 'postrider-test-state' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const countsOf = (states: readonly DeliveryState[]) =>
  Object.fromEntries([...Map.groupBy(states, (state) => state)].map(([state, same]) => [state, same.length]));

describe('the state list', () => {
  it('follows the order of the database enum', async () => {
    const rows = await sql<{ state: string }[]>`select unnest(enum_range(null::delivery_state))::text as state`;

    expect(rows.map((row) => row.state)).toEqual([...deliveryStates]);
  });
});

describe('messageStatus', () => {
  it.each<[DeliveryState[], DeliveryState]>([
    [['delivered'], 'delivered'],
    [['delivered', 'queued'], 'queued'],
    [['delivered', 'sending', 'deferred'], 'deferred'],
    [['scheduled', 'suppressed'], 'scheduled'],
    [['delivered', 'bounced'], 'bounced'],
    [['bounced', 'failed', 'complained'], 'failed'],
    [['delivered', 'complained'], 'complained'],
    [['delivered', 'suppressed', 'canceled'], 'suppressed'],
    [['canceled', 'delivered'], 'canceled'],
  ])('aggregates %j to %s', (states, status) => {
    expect(messageStatus(countsOf(states))).toBe(status);
  });

  it('is open while any recipient is open', () => {
    fc.assert(
      fc.property(fc.subarray([...deliveryStates], { minLength: 1 }), (states) => {
        const isOpen = (state: DeliveryState) => openStates.some((open) => open === state);
        expect(isOpen(messageStatus(countsOf(states)))).toBe(states.some(isOpen));
      }),
    );
  });

  it('equals min(state) in the database', async () => {
    const state = fc.constantFrom(...deliveryStates);
    await fc.assert(
      fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 8 }), async (states) => {
        const [row] = await sql<{ least: string }[]>`
          select min(state)::text as least from unnest(${states}::text[]::delivery_state[]) as states(state)`;
        expect(messageStatus(countsOf(states))).toBe(row?.least);
      }),
    );
  });

  it('rejects a message without recipients', () => {
    expect(() => messageStatus({})).toThrow('no recipient');
    expect(() => messageStatus({ queued: 0 })).toThrow('no recipient');
  });
});

describe('state transitions', () => {
  it('change a closed state only because of a later report', () => {
    const { confirm, ...others } = transitions;
    expect([confirm.from, confirm.to]).toEqual([['queued', 'failed'], 'delivered']);
    for (const { from, to } of Object.values(others)) {
      const closed = from.filter((state) => !openStates.some((open) => open === state));
      if (closed.length > 0)
        expect([closed, to]).toEqual([['delivered'], expect.stringMatching(/^(bounced|complained)$/)]);
    }
  });

  it('lead to every state', () => {
    const reached = new Set<string>(Object.values(transitions).map(({ to }) => to));

    expect(deliveryStates.filter((state) => !reached.has(state))).toEqual([]);
  });

  it('require the lease to record an attempt’s outcome', () => {
    // Excludes `lose`, because the worker that held the lease no longer exists.
    const { lose: _, ...written } = transitions;
    for (const { from, to, leased } of Object.values(written)) {
      const [first, ...others] = from;
      expect(leased).toBe(first === 'sending' && others.length === 0 && to !== 'sending');
    }
  });
});
