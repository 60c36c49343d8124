import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRest } from './rest-server.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
const rest = await openRest(world);
const { sql, request_log } = world.services;
beforeEach(async () => {
  await world.clock.freeze(new Date((Math.floor(world.clock.now() / MINUTE_MS) + 1) * MINUTE_MS));
});

interface Row {
  readonly reason: string;
  readonly body: string | null;
  readonly message: string;
}

async function rowsAfter(work: () => Promise<unknown>): Promise<Row[]> {
  await request_log.flush();
  await sql`delete from requests`;
  await work();
  await request_log.flush();
  return sql<Row[]>`select reason, body, message from requests order by id`;
}

const guess = (body: unknown) => rest.call('POST', '/email/send', { key: `pr_test_${'0'.repeat(64)}`, body });

describe('the request log', () => {
  it('fairness N3: stores few rows and no bodies for an unauthenticated network, and nothing beyond its limit', async () => {
    const rows = await rowsAfter(async () => {
      for (let count = 0; count < 200; count++) await guess({ subject: 'x'.repeat(3800) });
    });

    expect(rows.length).toBe(20);
    expect(rows.every(({ body, reason }) => body === null && reason !== 'address_rate')).toBe(true);
  });

  it('fairness N3: summarizes the remaining requests in one row at the end of the minute', async () => {
    await rowsAfter(async () => {
      for (let count = 0; count < 60; count++) await guess({});
    });

    const rows = await rowsAfter(async () => {
      await world.clock.advance(MINUTE_MS);
      await guess({});
    });

    expect(rows.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^40 more requests were rejected/));
    expect(rows).toHaveLength(2);
  });

  it("fairness N3: limits a workspace's rows, without affecting another workspace's rows", async () => {
    const { secret } = await world.key({ scopes: ['email:send', 'email:logs:read'] });
    const neighbor = await world.workspace('business');

    const rows = await rowsAfter(async () => {
      for (let round = 0; round < 14; round++)
        await Promise.all(
          Array.from({ length: 50 }, () => rest.call('GET', '/email/logs/msg_absent', { key: secret })),
        );
      await rest.call('GET', '/email/logs/msg_absent', { key: neighbor.secret });
    });

    expect(rows).toHaveLength(601);
  });
});
