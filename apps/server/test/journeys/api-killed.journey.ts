import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

const SENDERS = 10;

describe('an API process that dies while accepting email', () => {
  it('loses no accepted email, and a retry with the same key gets the same id', async () => {
    const first = await journey.start({ ROLES: 'rest' });
    const accepted = new Map<number, string>();
    const send = async (server: ServerProcess, number: number) =>
      server.call('POST', '/v1/email/send', {
        body: { ...hello, to: `to${number}@example.com` },
        headers: { 'idempotency-key': `key-${number}` },
      });

    // Each client continues until it gets no response, so every one of them has a message in flight when the process
    // dies.
    let keys = 0;
    let dying: Promise<unknown> | null = null;
    const sendUntilDead = async () => {
      for (;;) {
        const number = keys++;
        const response = await send(first, number).catch(() => null);
        if (response === null) return;
        if (response.status === 202) accepted.set(number, String(response.body.id));
        if (accepted.size >= 20) dying ??= first.kill();
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sendUntilDead));
    await dying;
    expect(accepted.size).toBeGreaterThanOrEqual(20);
    expect(keys - accepted.size).toBe(SENDERS);
    const stored = await journey.sql<{ id: string }[]>`select id from messages`;
    const storedIds = new Set(stored.map((row) => row.id));
    expect([...accepted.values()].filter((id) => !storedIds.has(id))).toEqual([]);

    const second = await journey.start({ ROLES: 'rest' });
    const retried = await Promise.all(Array.from({ length: keys }, (_, number) => send(second, number)));

    expect(retried.filter((response) => response.status !== 202)).toEqual([]);
    for (const [number, id] of accepted) {
      expect(retried[number]?.body.id).toBe(id);
      expect(retried[number]?.headers.get('idempotent-replayed')).toBe('true');
    }
    const [totals] = await journey.sql<{ messages: number; recipients: number; jobs: number; used: number }[]>`
      select (select count(*) from messages)::int as messages, (select count(*) from recipients)::int as recipients,
        (select count(*) from pgboss.job where name = 'delivery.attempt')::int as jobs,
        (select sum(used) from usage_months)::int as used`;
    expect(totals).toEqual({ messages: keys, recipients: keys, jobs: keys, used: keys });
  });
});
