import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  journey = await openJourney();
  server = await journey.start();
});
afterAll(() => journey.stop());

const EMAILS = 300;
const CONCURRENCY = 10;
const CUT_AT = [50, 120, 200];

/**
 * Simulates the effect of a server restart on its clients: closes every connection of the process at the same time. Waits
 * for the process to connect if the previous cut has left it without connections.
 */
async function cutConnections(): Promise<void> {
  for (;;) {
    const rows = await journey.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name in ('postrider', 'postrider-queue')`;
    if (rows.length > 0) return;
  }
}

describe('a database that drops every connection under load', () => {
  it('causes quick 500 responses but no crash, and every email is still delivered', async () => {
    const ids = new Map<number, string>();
    const rejections: { status: number; ms: number }[] = [];
    const cuts: Promise<void>[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (let number = next++; number < EMAILS; number = next++) {
          for (;;) {
            const started = performance.now();
            const response = await server.call('POST', '/v1/email/send', {
              body: { ...hello, to: `to${number}@example.com` },
              headers: { 'idempotency-key': `key-${number}` },
            });
            if (response.status === 202) {
              ids.set(number, String(response.body.id));
              if (CUT_AT.includes(ids.size)) cuts.push(cutConnections());
              break;
            }
            rejections.push({ status: response.status, ms: performance.now() - started });
          }
        }
      }),
    );

    await Promise.all(cuts);
    expect(cuts.length).toBeGreaterThanOrEqual(CUT_AT.length);
    expect(rejections.filter(({ status, ms }) => status !== 500 || ms > 20_000)).toEqual([]);
    expect(new Set(ids.values()).size).toBe(EMAILS);
    expect(await journey.sql`select from messages`).toHaveLength(EMAILS);

    // A job that had been fetched or claimed when its response was cut off is requeued when its lease expires.
    await expect
      .poll(
        async () => {
          await journey.clock.advance(20_000);
          return statesOf(journey.sql);
        },
        { timeout: 40_000, interval: 2000 },
      )
      .toEqual({ delivered: EMAILS });
    const copies = copiesOf(journey.smtp);
    expect(copies.size).toBe(EMAILS);
    for (const copy of copies.values()) expect(copy.bodies).toBe(1);
    expect((await server.call('GET', '/readyz', { key: null })).status).toBe(200);
    // Which of the two errors is logged depends on whether the worker was writing when the database closed the
    // connection.
    expect(server.stderr()).toMatch(/terminating connection|CONNECTION_CLOSED/);
    expect(server.stderr()).not.toMatch(/secretKey|connectionParameters/);
    expect(await server.end()).toEqual({ code: 0, signal: null });
  });
});
