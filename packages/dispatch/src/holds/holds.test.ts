import { createContext, invoke, type Services } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createHold, getHold, releaseHold } from '@postrider/core/holds';
import { holdLane } from '@postrider/core/lanes';
import { cancelMessage, giveUpMessage } from '@postrider/core/messages';
import { checkRestore, readSentLog } from '@postrider/core/restores';
import { createWebhook, egressOf } from '@postrider/core/webhooks';
import { createSmtpTransport, type Mailer } from '@postrider/mail';
import { createHttpGuard, type HttpGuard } from '@postrider/net';
import { createWorld, startWebhookSink, type WebhookSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDeliveryPump } from '../delivery/pump.ts';
import { startWebhookPump } from '../webhooks/webhook-pump.ts';
import { type HoldCache, startHoldCache } from './hold-cache.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
const HOUR_MS = 3_600_000;
const QUEUES = ['delivery.attempt', 'webhook.deliver'] as const;

let world: World;
let mailer: Mailer;
const keepers: HoldCache[] = [];
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  world = await createWorld();
  mailer = mailerBy(domainOf);
});
afterEach(async () => {
  keepers.length = 0;
  for (const stop of stops.splice(0).reverse()) await stop();
  await mailer.stop();
  await world.stop();
});

function mailerBy(laneOf: Mailer['laneOf']): Mailer {
  const { host, port } = world.smtp;
  const transport = createSmtpTransport({
    host,
    port,
    secure: false,
    tls: 'none',
    max_connections: 20,
    helo_name: 'localhost',
  });
  return { ...transport, laneOf };
}

function domainOf(to: string): string {
  return to.slice(to.lastIndexOf('@') + 1);
}

function keeper(services: Services = world.services): HoldCache {
  const holds = startHoldCache(services);
  keepers.push(holds);
  stops.push(() => holds.stop());
  return holds;
}

function start(services: Services = world.services, through = mailer): { stop(): Promise<void> } {
  const holds = keeper(services);
  const pump = startDeliveryPump(services, { live: through, sandbox: through }, holds);
  stops.push(() => pump.stop());
  return pump;
}

const system = () => world.as(world.workspace_id);

/** Returns whether a worker holds back the target of a hold. */
function isHolding(holds: HoldCache, { scope, value }: { readonly scope: string; readonly value: string }): boolean {
  if (scope === 'webhook') return holds.isHeld(value);
  if (scope === 'instance') return QUEUES.every((queue) => holds.isPaused(queue));
  if (scope === 'queue') return QUEUES.some((queue) => queue === value && holds.isPaused(queue));
  const mail = {
    workspace_id: world.workspace_id,
    from_domain: scope === 'sender_domain' ? value : '',
    api_key_id: scope === 'api_key' ? value : null,
    email: `to@${scope === 'destination' ? value : ''}`,
    lane: '',
  };
  return holds.holdLaneFor(mail) !== null;
}

/** Creates a hold and waits until every worker of the test knows it. */
async function hold(scope: string, value: string, fields = {}): Promise<{ readonly id: string }> {
  const held = await invoke(system(), createHold, { scope, value, reason: 'An outage there', ...fields });
  await expect.poll(() => keepers.every((holds) => isHolding(holds, held)), PATIENCE).toBe(true);
  return held;
}

/** Releases a hold and waits until every worker of the test knows it. */
async function release(hold_id: string): Promise<void> {
  const held = await invoke(system(), releaseHold, { hold_id });
  await expect.poll(() => keepers.some((holds) => isHolding(holds, held)), PATIENCE).toBe(false);
}

async function send(to: string | readonly string[], fields = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(system(), sendMessage, mail)).id;
}

const many = (count: number, domain: string, name = 'to') =>
  Array.from({ length: count }, (_, index) => `${name}${index}@${domain}`);

async function statesIn(domain: string): Promise<Record<string, number>> {
  const rows = await world.services.sql<{ state: string; count: number }[]>`
    select state::text, count(*)::int as count from recipients where domain = ${domain} group by state`;
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

async function affected(hold_id: string): Promise<number> {
  return (await invoke(system(), getHold, { hold_id })).affected;
}

/** Returns the recipients at a domain, one entry per copy. */
const arrivedAt = (domain: string) =>
  world.smtp.messages.flatMap((mail) => mail.envelope_to.filter((to) => to.endsWith(`@${domain}`))).sort();

async function untouched(domain: string): Promise<boolean> {
  const rows = await world.services.sql`
    select from recipients where domain = ${domain} and (attempt_count > 0 or first_attempt_at is not null)`;
  return rows.length === 0;
}

describe('held email', () => {
  it.each<[string, () => Promise<{ id: string }>, () => Promise<unknown>]>([
    ['by destination', () => hold('destination', 'Held.example.com'), () => send(many(20, 'held.example.com'))],
    [
      'by sending domain',
      async () => {
        await world.domain('mine.test');
        return hold('sender_domain', 'mine.test');
      },
      () => send(many(20, 'held.example.com'), { from: 'me@mine.test' }),
    ],
    [
      'by API key',
      async () => {
        const key = await world.key({ scopes: ['email:send'] });
        keyed = key.id;
        return hold('api_key', key.id);
      },
      async () => {
        const actor = {
          kind: 'key',
          workspace_id: world.workspace_id,
          key_id: keyed,
          scopes: ['email:send'],
          mode: 'live',
          domains: null,
        } as const;
        const mail = { from: 'hello@sandbox.test', to: many(20, 'held.example.com'), subject: 'Hello', text: 'Hi' };
        await invoke(createContext(world.services, actor), sendMessage, mail);
      },
    ],
  ])(
    '%s is not sent, uses no attempt, and arrives once after the release; other email is sent',
    async (_, begin, accept) => {
      start();
      const held = await begin();
      await accept();
      await send(many(20, 'other.example.com'));

      await expect.poll(() => statesIn('other.example.com'), PATIENCE).toEqual({ delivered: 20 });
      await expect.poll(() => affected(held.id), PATIENCE).toBe(20);
      expect(arrivedAt('held.example.com')).toEqual([]);
      expect(await untouched('held.example.com')).toBe(true);

      await release(held.id);

      await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 20 });
      expect(arrivedAt('held.example.com')).toEqual(many(20, 'held.example.com').sort());
      expect(await affected(held.id)).toBe(0);
    },
  );
  let keyed = '';

  it('waits in its held queue, and is sent after the release', async () => {
    const { id } = await hold('queue', 'delivery.attempt');
    await send(many(30, 'held.example.com'));
    const holds = keeper();
    await holds.ready;
    start();
    await expect.poll(() => holds.isPaused('delivery.attempt'), PATIENCE).toBe(true);
    expect(await affected(id)).toBe(30);

    await release(id);

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 30 });
    expect(arrivedAt('held.example.com')).toEqual(many(30, 'held.example.com').sort());
  });

  it('waits while the instance is held, and is then sent at the hold’s release rate', async () => {
    const { id } = await hold('instance', 'all', { resume_rate_per_minute: 6000 });
    await send(many(30, 'held.example.com'));
    const holds = keeper();
    await holds.ready;
    start();
    expect([holds.isPaused('delivery.attempt'), holds.isPaused('webhook.deliver')]).toEqual([true, true]);
    expect(await affected(id)).toBe(30);

    await release(id);

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 30 });
    await expect
      .poll(() => invoke(system(), getHold, { hold_id: id }).then(({ status }) => status), { timeout: 30_000 })
      .toBe('ended');
  });

  it('stops immediately, including email waiting in the worker, while started deliveries finish', async () => {
    const released = Promise.withResolvers<void>();
    world.smtp.script(({ stage }) =>
      stage === 'data' ? { kind: 'stall', until: released.promise } : { kind: 'accept' },
    );
    await send(many(50, 'held.example.com'));
    start();
    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toMatchObject({ sending: 5 });

    const { id } = await hold('destination', 'held.example.com');
    await expect.poll(() => affected(id), PATIENCE).toBe(45);
    released.resolve();

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 5, queued: 45 });
    await release(id);
    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 50 });
    expect(arrivedAt('held.example.com')).toEqual(many(50, 'held.example.com').sort());
  });

  it('is not sent even if it was claimed ahead of its turn', async () => {
    await send(many(50, 'held.example.com'));
    await send(many(50, 'held.example.com', 'more'));
    const released = Promise.withResolvers<void>();
    let data = 0;
    // After sixty messages the server stalls. By then the lane has proven fast, and many messages are claimed ahead.
    world.smtp.script(({ stage }) => {
      if (stage === 'data') data += 1;
      return stage === 'data' && data > 40 ? { kind: 'stall', until: released.promise } : { kind: 'accept' };
    });
    start();
    await expect.poll(() => data, PATIENCE).toBeGreaterThan(40);
    const claimed = async () => (await statesIn('held.example.com')).sending ?? 0;
    await expect.poll(claimed, PATIENCE).toBeGreaterThan(20);

    await hold('destination', 'held.example.com');

    await expect.poll(claimed, PATIENCE).toBeLessThanOrEqual(20);
    released.resolve();
    await expect.poll(claimed, PATIENCE).toBe(0);
    const waiting = await world.services.sql<{ attempt_count: number }[]>`
      select attempt_count from recipients where state <> 'delivered'`;
    expect(waiting.length).toBeGreaterThanOrEqual(40);
    expect(waiting.every(({ attempt_count }) => attempt_count === 0)).toBe(true);
  });

  it('can be canceled, and is then never sent', async () => {
    start();
    const { id } = await hold('destination', 'held.example.com');
    const [first, second] = [await send('a@held.example.com'), await send('b@held.example.com')];
    await expect.poll(() => affected(id), PATIENCE).toBe(2);

    await invoke(system(), cancelMessage, { id: first });
    await release(id);

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ canceled: 1, delivered: 1 });
    expect(second).toBeDefined();
    expect(arrivedAt('held.example.com')).toEqual(['b@held.example.com']);
  });

  it('is sent only after both holds have ended if two holds apply', async () => {
    start();
    const first = await hold('destination', 'held.example.com');
    const second = await hold('sender_domain', 'sandbox.test');
    await send(many(10, 'held.example.com'));
    await expect.poll(() => affected(second.id), PATIENCE).toBe(10);

    await release(second.id);
    await expect.poll(() => affected(first.id), PATIENCE).toBe(10);
    expect(arrivedAt('held.example.com')).toEqual([]);
    await release(first.id);

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 10 });
  });

  it('resumes automatically when the hold expires, and the audit log records the release', async () => {
    start();
    const expires_at = new Date(world.clock.now() + HOUR_MS).toISOString();
    const { id } = await hold('destination', 'held.example.com', { expires_at });
    await send(many(5, 'held.example.com'));
    await expect.poll(() => affected(id), PATIENCE).toBe(5);

    await world.clock.advance(HOUR_MS + 1000);

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 5 });
    const auditLog = () => world.services.sql`
      select action, actor_kind, reason from audit_log where target_id = ${id} order by sequence`;
    await expect.poll(auditLog, PATIENCE).toEqual([
      { action: 'hold.created', actor_kind: 'system', reason: 'An outage there' },
      { action: 'hold.expired', actor_kind: 'system', reason: null },
    ]);
  });

  it('outlives the worker that set it aside', async () => {
    const pump = start();
    const { id } = await hold('destination', 'held.example.com');
    await send(many(5, 'held.example.com'));
    await expect.poll(() => affected(id), PATIENCE).toBe(5);
    await pump.stop();
    await release(id);

    start();

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 5 });
  });
});

describe('a hold’s release rate', () => {
  it('limits a destination’s held email across two workers, while other email is sent immediately', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    start();
    start(await world.peer());
    const { id } = await hold('destination', 'held.example.com', { resume_rate_per_minute: 60 });
    await send(many(16, 'held.example.com'));
    await expect.poll(() => affected(id), PATIENCE).toBe(16);

    await release(id);
    await send(many(5, 'held.example.com', 'later'));
    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 5, queued: 16 });
    for (const second of [1, 2, 3]) {
      await world.clock.advance(1000);
      await expect
        .poll(() => statesIn('held.example.com'), PATIENCE)
        .toEqual({ delivered: 5 + second, queued: 16 - second });
    }

    // A long pause of the workers does not cause a burst.
    await world.clock.advance(HOUR_MS);
    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 13, queued: 8 });
    for (let remaining = 8; remaining > 0; remaining -= 5) {
      await world.clock.advance(5000);
      await expect
        .poll(async () => (await statesIn('held.example.com')).queued ?? 0, PATIENCE)
        .toBe(Math.max(0, remaining - 5));
    }
    await world.clock.advance(10_000);
    await expect.poll(async () => (await invoke(system(), getHold, { hold_id: id })).status, PATIENCE).toBe('ended');
    await expect.poll(() => arrivedAt('held.example.com').length, PATIENCE).toBe(21);
  });

  it('applies to more queued email than a worker can hold, and leaves time for other work', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    const { id } = await hold('queue', 'delivery.attempt', { resume_rate_per_minute: 120 });
    for (let batch = 0; batch < 8; batch++) await send(many(50, 'held.example.com', `b${batch}-`));
    start();
    await release(id);

    for (const delivered of [2, 4, 6]) {
      await world.clock.advance(1000);
      await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered, queued: 400 - delivered });
    }
  });

  it('applies to a queue until it is empty, and not afterward', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    start();
    const { id } = await hold('queue', 'delivery.attempt', { resume_rate_per_minute: 120 });
    await send(many(10, 'held.example.com'));
    await release(id);

    for (const delivered of [2, 4, 6]) {
      await world.clock.advance(1000);
      await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered, queued: 10 - delivered });
    }
    await world.clock.advance(5000);
    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 10 });
    await world.clock.advance(5000);
    await expect.poll(async () => (await invoke(system(), getHold, { hold_id: id })).status, PATIENCE).toBe('ended');
    await send(many(50, 'free.example.com'));
    await expect.poll(() => statesIn('free.example.com'), PATIENCE).toEqual({ delivered: 50 });
  });
});

describe('a queue’s release rate', () => {
  it('stops applying once the held email is sent, whatever has arrived since the hold', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    start();
    const { id } = await hold('queue', 'delivery.attempt', { resume_rate_per_minute: 120 });
    await send(many(10, 'held.example.com'));
    await release(id);
    await world.clock.advance(1000);
    for (let batch = 0; batch < 4; batch++) await send(many(50, 'newer.example.com', `b${batch}-`));

    for (let delivered = 0; delivered < 10; ) {
      await world.clock.advance(1000);
      const before = delivered;
      await expect
        .poll(async () => {
          delivered = (await statesIn('held.example.com')).delivered ?? 0;
          return delivered;
        }, PATIENCE)
        .toBeGreaterThan(before);
    }
    expect((await statesIn('newer.example.com')).queued).toBeGreaterThan(150);
    await world.clock.advance(5000);

    await expect.poll(() => statesIn('newer.example.com'), PATIENCE).toEqual({ delivered: 200 });
    expect((await invoke(system(), getHold, { hold_id: id })).status).toBe('ended');
  });

  it('does not keep high-priority email in the queue behind excess bulk email', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    const { id } = await hold('queue', 'delivery.attempt', { resume_rate_per_minute: 120 });
    for (let batch = 0; batch < 8; batch++)
      await send(many(50, 'bulk.example.com', `b${batch}-`), { priority: 'bulk' });
    start(
      world.services,
      mailerBy(() => 'relay'),
    );
    await release(id);
    const fetched = async (priority: number) => {
      const rows = await world.services.sql`
        select from pgboss.job where name = 'delivery.attempt' and state = 'active' and priority = ${priority}`;
      return rows.length;
    };
    await expect.poll(() => fetched(-1), PATIENCE).toBeGreaterThan(300);

    await send(many(2, 'high.example.com'), { priority: 'high' });

    await expect.poll(() => fetched(1), PATIENCE).toBe(2);
    for (const _ of [1, 2, 3]) {
      const before = world.smtp.messages.length;
      await world.clock.advance(1000);
      await expect.poll(() => world.smtp.messages.length, PATIENCE).toBe(before + 2);
    }
    await expect.poll(() => statesIn('high.example.com'), PATIENCE).toEqual({ delivered: 2 });
  });

  it('is lifted immediately on every worker by a release', async () => {
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12)));
    start();
    const { id } = await hold('queue', 'delivery.attempt', { resume_rate_per_minute: 1 });
    await send(many(50, 'held.example.com'));
    await release(id);
    expect((await invoke(system(), getHold, { hold_id: id })).status).toBe('resuming');

    await invoke(system(), releaseHold, { hold_id: id, at_once: true });

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 50 });
  });
});

describe('held webhooks', () => {
  let sink: WebhookSink;
  let http: HttpGuard;
  beforeEach(async () => {
    sink = await startWebhookSink();
    http = createHttpGuard(egressOf(world.services.config));
    stops.push(async () => {
      await http.stop();
      await sink.stop();
    });
  });

  const hook = (path: string) => invoke(system(), createWebhook, { url: sink.url + path, events: ['email.queued'] });
  const postsTo = (path: string) => sink.requests.filter((request) => request.path === path).length;
  const startPosting = () => {
    const holds = keeper();
    const pump = startWebhookPump(world.services, http, holds);
    stops.push(() => pump.stop());
    return holds;
  };

  it('wait without an attempt while others are posted, and are posted once after the release', async () => {
    const [webhook, other] = [await hook('/held'), await hook('/other')];
    const { id } = await hold('webhook', webhook.id);
    startPosting();
    for (let count = 0; count < 3; count++) await send('ada@example.com');

    await expect.poll(() => postsTo('/other'), PATIENCE).toBe(3);
    expect(other.id).not.toBe(webhook.id);
    const pending = await world.services.sql`
      select from webhook_deliveries where webhook_id = ${webhook.id} and state = 'pending' and attempt_count = 0`;
    expect(pending).toHaveLength(3);
    expect(postsTo('/held')).toBe(0);
    expect(await affected(id)).toBe(3);

    await release(id);

    await expect.poll(() => postsTo('/held'), PATIENCE).toBe(3);
  });

  it('all wait if the webhook queue is held', async () => {
    await hook('/hook');
    const { id } = await hold('queue', 'webhook.deliver');
    const holds = startPosting();
    await holds.ready;
    await send('ada@example.com');
    expect(holds.isPaused('webhook.deliver')).toBe(true);
    expect(postsTo('/hook')).toBe(0);

    await release(id);

    await expect.poll(() => postsTo('/hook'), PATIENCE).toBe(1);
  });

  it('resume at the hold’s release rate', async () => {
    const { id: webhook_id } = await hook('/hook');
    const { id } = await hold('webhook', webhook_id, { resume_rate_per_minute: 120 });
    for (let count = 0; count < 6; count++) await send('ada@example.com');
    const holds = startPosting();
    await holds.ready;
    const released = performance.now();
    await release(id);

    await expect.poll(() => postsTo('/hook'), PATIENCE).toBe(6);

    // The rate is two per second, so the last message arrives after three seconds at the earliest.
    expect(performance.now() - released).toBeGreaterThan(2900);
  });
});

describe('an expired hold', () => {
  it('is checked only once a second while another worker holds its row lock', async () => {
    const { id } = await hold('destination', 'held.example.com', {
      expires_at: new Date(world.clock.now() + HOUR_MS).toISOString(),
    });
    await world.clock.advance(HOUR_MS + 1000);
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const other = world.services.sql.begin(async (tx) => {
      // Our own transactions are terminated after idling for seconds.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`select from holds where id = ${id} for update`;
      lock();
      await done;
    });
    stops.push(() => {
      release();
      return other;
    });
    await locked;
    let tries = 0;
    const sql = new Proxy(world.services.sql, {
      get(target, name) {
        if (name === 'begin') tries += 1;
        return Reflect.get(target, name);
      },
    });
    const began = performance.now();

    keeper({ ...world.services, sql });
    await expect.poll(() => tries, PATIENCE).toBeGreaterThanOrEqual(3);

    expect(performance.now() - began).toBeGreaterThan(1900);
    release();
    const status = async () =>
      (await world.services.sql<{ ended_by: string | null }[]>`select ended_by from holds where id = ${id}`)[0]
        ?.ended_by;
    await expect.poll(status, PATIENCE).toBe('expiry');
  });
});

describe('a hold created while a worker is starting', () => {
  it('is in force on that worker from the first email', async () => {
    let created: { readonly id: string } | null = null;
    const sql = new Proxy(world.services.sql, {
      get(target, name) {
        if (name !== 'listen') return Reflect.get(target, name);
        return async (...args: Parameters<typeof target.listen>) => {
          created = await hold('queue', 'delivery.attempt');
          return target.listen(...args);
        };
      },
    });

    const holds = startHoldCache({ ...world.services, direct: sql });
    stops.push(() => holds.stop());
    await holds.ready;

    expect(created).not.toBeNull();
    expect(holds.isPaused('delivery.attempt')).toBe(true);
  });
});

describe('a hold’s lane', () => {
  it('no longer counts email that was given up or marked as sent', async () => {
    const { id } = await hold('destination', 'held.example.com');
    const pump = start();
    const given_up = await send('a@held.example.com');
    const sent = await send('b@held.example.com');
    await expect.poll(() => affected(id), PATIENCE).toBe(2);
    await pump.stop();

    await invoke(system(), giveUpMessage, { id: given_up });
    expect(await affected(id)).toBe(1);
    const log = await readSentLog('mail.log', [`<${sent}@sandbox.test> sent`]);
    await invoke(system(), checkRestore, { sources: [log], close: true });

    expect(await affected(id)).toBe(0);
  });

  it('is identified by the hold’s id, and releases forgotten email even after the hold is deleted', async () => {
    const { id } = await hold('destination', 'held.example.com');
    const pump = start();
    await send('a@held.example.com');
    await expect.poll(() => affected(id), PATIENCE).toBe(1);
    await pump.stop();
    await world.services.sql`delete from holds where id = ${id}`;
    expect(await world.services.sql`select from parked_deliveries where lane = ${holdLane(id)}`).toHaveLength(1);

    start();

    await expect.poll(() => statesIn('held.example.com'), PATIENCE).toEqual({ delivered: 1 });
  });
});
