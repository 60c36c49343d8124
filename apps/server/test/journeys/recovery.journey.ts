import { setTimeout as pause } from 'node:timers/promises';
import { startSmtpSink } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabaseProxy } from '../database-proxy.ts';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };

let journey: Journey;
beforeEach(async () => {
  journey = await openJourney();
});
afterEach(() => journey.stop());

describe('interrupted email', () => {
  it("chaos C12: resumes within ten seconds of a worker's death, or once its lease ends if claimed", async () => {
    // Ten messages may wait for a claim while five are being sent.
    const first = await journey.start({ LIMITS: 'relay_connections=5' });
    const reached = Promise.withResolvers<void>();
    let stalled = 0;
    journey.smtp.script(() => {
      if (++stalled === 5) reached.resolve();
      return { kind: 'stall', until: new Promise(() => undefined) };
    });
    for (let number = 0; number < 12; number++) {
      await first.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
    }
    await reached.promise;
    // A connection can open before the claim of its email has been committed.
    await expect.poll(async () => (await statesOf(journey.sql)).sending ?? 0, PATIENCE).toBeGreaterThanOrEqual(5);
    const claimed = await journey.sql<{ email: string }[]>`select email from recipients where state = 'sending'`;
    const second = await journey.start({ ROLES: 'worker' });
    journey.smtp.script(() => ({ kind: 'accept' }));

    first.signal('SIGSTOP');
    await pause(7000);
    expect(await journey.sql`select from recipients where attempt_count > 1`).toHaveLength(0);
    await first.kill();
    const killed_at = performance.now();
    const delivered = async () => (await statesOf(journey.sql)).delivered ?? 0;
    await expect.poll(delivered, PATIENCE).toBe(12 - claimed.length);
    const took_ms = performance.now() - killed_at;
    await expect.poll(delivered, { ...PATIENCE, timeout: 60_000 }).toBe(12);

    expect(claimed.length).toBeGreaterThanOrEqual(5);
    expect(claimed.length).toBeLessThan(12);
    expect(took_ms).toBeLessThan(10_000);
    expect(second.logged().map(({ msg }) => msg)).toContain('a worker died; requeued its email');
  });

  it("resumes even if the killed worker's last statement still locks its jobs", async () => {
    const first = await journey.start();
    const reached = Promise.withResolvers<void>();
    let stalled = 0;
    journey.smtp.script(() => {
      if (++stalled === 5) reached.resolve();
      return { kind: 'stall', until: new Promise(() => undefined) };
    });
    for (let number = 0; number < 5; number++) {
      await first.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
    }
    await reached.promise;
    const second = await journey.start({ ROLES: 'worker' });
    journey.smtp.script(() => ({ kind: 'accept' }));
    const messages = () => second.logged().map(({ msg }) => msg);

    await journey.sql.begin(async (tx) => {
      // Our own transactions are aborted after a few seconds of idling.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`select from pgboss.job where name = 'delivery.attempt' and state = 'active' for update`;
      await first.kill();
      await expect.poll(messages, PATIENCE).toContain('a worker died; requeued its email');
    });
    await expect.poll(messages, PATIENCE).toContain('requeued email that a stopped worker still held');
    await journey.clock.advance(30_000);
    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 5 });
  });

  it('chaos C12: resumes within seconds if the response to its claim is lost with the connection', async () => {
    const api = await journey.start({ ROLES: 'rest' });
    for (let number = 0; number < 8; number++) {
      await api.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
    }
    const proxy = await openDatabaseProxy(journey.env.DATABASE_URL ?? '');
    const released = Promise.withResolvers<void>();
    const holder = journey.sql.begin(async (tx) => {
      // Our own transactions are aborted after a few seconds of idling.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`lock table suppressions in access exclusive mode`;
      await released.promise;
    });
    const worker = await journey.start({ ROLES: 'worker', DATABASE_URL: proxy.url });
    const waiting = () => journey.sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%moves as%'`;
    await expect.poll(waiting, PATIENCE).not.toHaveLength(0);
    proxy.swallowAnswers();
    released.resolve();
    await holder;
    await expect.poll(async () => (await statesOf(journey.sql)).sending ?? 0, PATIENCE).toBeGreaterThan(0);
    await proxy.close();
    await proxy.open();
    const back_at = performance.now();

    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 8 });
    expect(performance.now() - back_at).toBeLessThan(15_000);
    expect(worker.logged().map(({ msg }) => msg)).toContain('recovered jobs whose fetch response was lost');
    await proxy.close();
  });
});

describe('a relay', () => {
  it('chaos C10: gets email within three seconds after recovering from a two-second outage', async () => {
    // Uses the sink's port on another address, so that nothing else binds it while the relay is down.
    const host = '127.0.0.21';
    const { port } = journey.smtp;
    const server = await journey.start({ DELIVERY: `smtp://${host}:${port}` });
    const away_until = performance.now() + 2000;
    let sent = 0;
    while (performance.now() < away_until) {
      await server.call('POST', '/v1/email/send', { body: { ...hello, to: `to${sent++}@example.com` } });
      await pause(50);
    }

    const relay = await startSmtpSink({ host, port });
    const back_at = performance.now();
    try {
      await relay.waitFor(1);
      expect(performance.now() - back_at).toBeLessThan(3000);
      // Messages that were not attempted in the meantime are sent immediately. The others wait a minute for their
      // retry.
      const [attempts] = await journey.sql<{ count: number }[]>`
        select count(distinct recipient_id)::int as count from attempts where outcome <> 'accepted'`;
      await expect.poll(() => relay.messages.length, PATIENCE).toBeGreaterThanOrEqual(sent - (attempts?.count ?? 0));
    } finally {
      await relay.stop();
    }
  });
});
