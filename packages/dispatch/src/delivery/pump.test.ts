import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createMailer, type Mailer, type SendOutcome } from '@postrider/mail';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type HoldCache, startHoldCache } from '../holds/hold-cache.ts';
import { type DeliveryPump, startDeliveryPump } from './pump.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };

let world: World;
let mailer: Mailer;
let pump: DeliveryPump | null = null;
let holds: HoldCache | null = null;
beforeEach(async () => {
  world = await createWorld();
  mailer = createMailer({
    helo_name: 'localhost',
    transports: [{ host: world.smtp.host, port: world.smtp.port, secure: false, tls: 'none', max_connections: 5 }],
  });
});
afterEach(async () => {
  await pump?.stop();
  pump = null;
  await holds?.stop();
  holds = null;
  await mailer.stop();
  await world.stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function startPump(through: Mailer): DeliveryPump {
  holds = startHoldCache(world.services);
  return startDeliveryPump(world.services, { live: through, sandbox: through }, holds);
}

async function send(to: string | readonly string[]): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

async function states(): Promise<Record<string, string>> {
  const rows = await world.services.sql<{ email: string; state: string }[]>`
    select email, state::text from recipients order by email`;
  return Object.fromEntries(rows.map((row) => [row.email, row.state]));
}

async function openCount(): Promise<number> {
  return (await world.services.sql`select from recipients where state <> 'delivered'`).length;
}

describe('the delivery pump', () => {
  it('delivers email that was waiting before it started, and email that arrives later', async () => {
    await send('before@example.com');
    pump = startPump(mailer);
    await world.smtp.waitFor(1);

    await send('after@example.com');
    await world.smtp.waitFor(2);

    await expect
      .poll(states, PATIENCE)
      .toEqual({ 'after@example.com': 'delivered', 'before@example.com': 'delivered' });
  });

  it('does not delay a batch because of its slowest email', async () => {
    const released = Promise.withResolvers<void>();
    world.smtp.script(({ to }) =>
      to === 'slow@example.com' ? { kind: 'stall', until: released.promise } : { kind: 'accept' },
    );
    await send(['slow@example.com', 'quick1@example.com', 'quick2@example.com']);

    pump = startPump(mailer);

    await expect
      .poll(states, PATIENCE)
      .toEqual({ 'quick1@example.com': 'delivered', 'quick2@example.com': 'delivered', 'slow@example.com': 'sending' });
    released.resolve();
    await expect.poll(states, PATIENCE).toMatchObject({ 'slow@example.com': 'delivered' });
  });

  it('holds at most 480 emails per workspace, and fetches the rest when there is room', async () => {
    // Each message has its own lane, because a single lane holds fewer than 480.
    const to = (batch: number) => Array.from({ length: 50 }, (_, index) => `to@d${index}.b${batch}.example.com`);
    for (let batch = 0; batch < 16; batch++) await send(to(batch));
    const full = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let under_way = 0;
    let max = 0;
    const slow: Mailer = {
      async send() {
        under_way += 1;
        max = Math.max(max, under_way);
        if (under_way === 480) full.resolve();
        await released.promise;
        under_way -= 1;
        return accepted;
      },
      laneOf: domainOf,
      stop: async () => undefined,
    };

    pump = startPump(slow);
    await full.promise;
    expect(await openCount()).toBe(800);
    released.resolve();

    await expect.poll(openCount, { timeout: 30_000 }).toBe(0);
    expect(max).toBe(480);
  });

  it('aborts email whose lease is lost and resends it, unless the final dot has been sent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const released = Promise.withResolvers<void>();
    const stalled = new Set<string>();
    world.smtp.script(({ stage, to, nth }) => {
      const at = to === 'before@example.com' && nth === 1 ? 'rcpt' : 'data';
      if (stage !== at || (at === 'data' && to !== 'past@example.com')) return { kind: 'accept' };
      stalled.add(to);
      return { kind: 'stall', until: released.promise, at };
    });
    await send(['before@example.com', 'past@example.com']);
    pump = startPump(mailer);
    await expect.poll(() => stalled.size, PATIENCE).toBe(2);

    // Advances only the pump's clock, and immediately, so that no renewal can run in between.
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 25_000);
    vi.advanceTimersByTime(1000);

    await expect.poll(states, PATIENCE).toEqual({ 'before@example.com': 'delivered', 'past@example.com': 'sending' });
    released.resolve();
    await expect.poll(states, PATIENCE).toMatchObject({ 'past@example.com': 'delivered' });
    expect(world.smtp.messages.map(({ envelope_to }) => envelope_to)).toEqual([
      ['before@example.com'],
      ['past@example.com'],
    ]);
  });

  it('records a result without its text if the database rejects the text, leaving other results unchanged', async () => {
    const bad = responding(({ to }) => (to === 'bad@example.com' ? { ...accepted, target: 'a\0b' } : accepted));
    await send(['bad@example.com', 'good1@example.com', 'good2@example.com', 'good3@example.com']);

    pump = startPump(bad);

    await expect.poll(states, { timeout: 30_000 }).toEqual({
      'bad@example.com': 'delivered',
      'good1@example.com': 'delivered',
      'good2@example.com': 'delivered',
      'good3@example.com': 'delivered',
    });
    const attempts = await world.services.sql<{ email: string; target: string; outcome: string }[]>`
      select r.email, a.target, a.outcome from attempts a join recipients r on r.id = a.recipient_id order by r.email`;
    expect(attempts.map(({ target, outcome }) => [target, outcome])).toEqual([
      ['', 'accepted'],
      ['sink', 'accepted'],
      ['sink', 'accepted'],
      ['sink', 'accepted'],
    ]);
  });
});

const accepted: SendOutcome = {
  kind: 'accepted',
  reply: { code: 250, enhanced: null, text: 'taken' },
  error: null,
  target: 'sink',
  address: null,
  tls_policy: 'none',
  tls: null,
  phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
  stage: 'after_dot',
  transcript: '',
};

/**
 * Creates a route that responds as instructed. The pump sees nothing of a transport but the outcomes that it returns.
 */
function responding(response: (envelope: { readonly to: string }) => SendOutcome): Mailer {
  return { send: async (envelope) => response(envelope), laneOf: domainOf, stop: async () => undefined };
}

function domainOf(to: string): string {
  return to.slice(to.lastIndexOf('@') + 1);
}
