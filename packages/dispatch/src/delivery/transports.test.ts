import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { limitDestination, listDestinations } from '@postrider/core/lanes';
import { getMessage } from '@postrider/core/messages';
import { createTransport, deleteTransport, setTransportRules, updateTransport } from '@postrider/core/transports';
import { createSmtpTransport, type Mailer } from '@postrider/mail';
import { createWorld, type SmtpSink, startSmtpSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HoldCache, startHoldCache } from '../holds/hold-cache.ts';
import { type DeliveryPump, startDeliveryPump } from './pump.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
// Stopped, so that no minute and no day ends during a test.
const NOON = new Date('2030-01-01T12:00:10Z');
const PATIENCE = { timeout: 30_000, interval: 50 };

let world: World;
const pumps: DeliveryPump[] = [];
const keepers: HoldCache[] = [];
const mailers: Mailer[] = [];
const sinks: SmtpSink[] = [];
beforeEach(async () => {
  // With DELIVERY=capture, rules are not followed; the pump below sends to the sink of the world.
  world = await createWorld({ DELIVERY: 'smtp://127.0.0.1:2525' });
  await world.domain('shop.example');
});
afterEach(async () => {
  await Promise.all(pumps.splice(0).map((pump) => pump.stop()));
  await Promise.all(keepers.splice(0).map((holds) => holds.stop()));
  await Promise.all(mailers.splice(0).map((mailer) => mailer.stop()));
  await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
  await world.stop();
});

async function openSink(): Promise<SmtpSink> {
  const sink = await startSmtpSink();
  sinks.push(sink);
  return sink;
}

async function closedPort(): Promise<number> {
  const sink = await startSmtpSink();
  await sink.stop();
  return sink.port;
}

/** Starts a worker whose default transport is the sink of the world. */
async function startWorker(services = world.services): Promise<DeliveryPump> {
  const { host, port } = world.smtp;
  const options = { host, port, secure: false, tls: 'none', max_connections: 20, helo_name: 'localhost' } as const;
  const mailer = createSmtpTransport(options);
  mailers.push(mailer);
  const holds = startHoldCache(services);
  keepers.push(holds);
  const pump = startDeliveryPump(services, { live: mailer, sandbox: mailer }, holds);
  pumps.push(pump);
  return pump;
}

const instance = () => world.as(world.workspace_id);

async function transport(name: string, port: number): Promise<string> {
  const relay = { name, kind: 'smtp', host: '127.0.0.1', port, tls: 'none' };
  return (await invoke(instance(), createTransport, relay)).id;
}

const setRules = (...rules: object[]) => invoke(instance(), setTransportRules, { rules });

async function send(fields: object = {}): Promise<string> {
  const email = { from: 'hello@shop.example', to: 'ada@example.com', subject: 'Hello', text: 'It works.' };
  return (await invoke(instance(), sendMessage, { ...email, ...fields })).id;
}

/** Returns how many of the emails wait for a reason until the end of the day. */
async function waitingFor(reason: string, ids: readonly string[]): Promise<number> {
  const emails = await Promise.all(ids.map((id) => invoke(instance(), getMessage, { id })));
  const until = '2030-01-02T00:00:00.000Z';
  return emails.filter(({ recipients: [one] }) => one?.waiting?.reason === reason && one.waiting.until === until)
    .length;
}

async function delivered(id: string) {
  await expect.poll(async () => (await invoke(instance(), getMessage, { id })).status, PATIENCE).toBe('delivered');
  return invoke(instance(), getMessage, { id });
}

describe('an email', () => {
  it('goes through the transport of the first rule that matches, and its attempt names it', async () => {
    const [bulk, other] = [await openSink(), await openSink()];
    const bulk_id = await transport('Bulk', bulk.port);
    const other_id = await transport('Other', other.port);
    await setRules(
      { tag: 'newsletter', transports: [bulk_id] },
      { destination: 'example.net', transports: [other_id] },
    );
    await startWorker();

    const ids = [
      await send({ tags: ['newsletter'] }),
      await send({ tags: ['newsletter'], to: 'ada@example.net' }),
      await send({ to: 'ada@example.net' }),
      await send(),
    ];
    const emails = await Promise.all(ids.map(delivered));

    expect(emails.map(({ attempts }) => attempts.map(({ transport_id }) => transport_id))).toEqual([
      [bulk_id],
      [bulk_id],
      [other_id],
      [null],
    ]);
    expect([bulk, other, world.smtp].map(({ messages }) => messages.length)).toEqual([2, 1, 1]);
  });

  it('goes through the next transport in the same attempt if the preferred one cannot be reached', async () => {
    const sink = await openSink();
    const dead = await transport('Dead', await closedPort());
    const spare = await transport('Spare', sink.port);
    await setRules({ transports: [dead, spare] });
    await startWorker();

    const email = await delivered(await send());

    expect(email.attempts).toHaveLength(1);
    expect(email.attempts[0]).toMatchObject({ transport_id: spare, outcome: 'accepted' });
    expect(sink.messages).toHaveLength(1);
    expect(world.smtp.messages).toHaveLength(0);
  });

  it('is sent once, by the next transport, after the preferred one has died', async () => {
    const spare = await openSink();
    const first = await openSink();
    const first_id = await transport('First', first.port);
    const spare_id = await transport('Spare', spare.port);
    await setRules({ transports: [first_id, spare_id] });
    await startWorker();

    const before = await Promise.all(Array.from({ length: 20 }, () => send()));
    await Promise.all(before.map(delivered));
    await first.stop();
    const after = await Promise.all(Array.from({ length: 40 }, () => send()));
    await Promise.all(after.map(delivered));

    expect(first.messages).toHaveLength(20);
    expect(spare.messages).toHaveLength(40);
  });
});

describe('a change of transports', () => {
  it('reaches every worker within seconds, without losing or repeating email that is being sent', async () => {
    const [left, right] = [await openSink(), await openSink()];
    const id = await transport('Relay', left.port);
    await setRules({ transports: [id] });
    await startWorker();
    await startWorker(await world.peer());

    const ids: string[] = [];
    for (let round = 0; round < 6; round++) {
      for (let count = 0; count < 25; count++) ids.push(await send());
      const port = round % 2 === 0 ? right.port : left.port;
      await invoke(instance(), updateTransport, { transport_id: id, port });
    }
    await Promise.all(ids.map(delivered));

    expect(left.messages.length + right.messages.length).toBe(150);
    // After the last change, everything goes to the left one.
    await expect
      .poll(async () => {
        const before = left.messages.length;
        await delivered(await send());
        return left.messages.length - before;
      }, PATIENCE)
      .toBe(1);
    expect(world.smtp.messages).toHaveLength(0);
  });

  it('loses and repeats nothing at 100 emails a second, with a deleted transport and a dead relay', async () => {
    const [left, right, mortal] = [await openSink(), await openSink(), await openSink()];
    const left_id = await transport('Left', left.port);
    const right_id = await transport('Right', right.port);
    const mortal_id = await transport('Mortal', mortal.port);
    await startWorker();
    await startWorker(await world.peer());
    // Each change, and the server that receives email after it.
    const steps: readonly (readonly [() => Promise<unknown>, SmtpSink])[] = [
      [() => setRules({ transports: [left_id] }), left],
      [() => setRules({ tag: 'even', transports: [right_id] }, { transports: [left_id] }), right],
      [() => setRules({ transports: [mortal_id, right_id] }), mortal],
      // It dies between emails: what a relay had in hand at that moment would be sent again a minute later.
      [
        async () => mortal.script(({ stage }) => ({ kind: 'drop', at: stage === 'connect' ? 'connect' : 'rcpt' })),
        right,
      ],
      [
        async () => {
          await setRules({ tag: 'even', transports: ['default'] }, { transports: [right_id] });
          await invoke(instance(), deleteTransport, { transport_id: mortal_id });
          await invoke(instance(), deleteTransport, { transport_id: left_id });
        },
        world.smtp,
      ],
      [() => setRules(), world.smtp],
    ];
    const requests: Promise<string>[] = [];

    for (const [step, sink] of steps) {
      const change = step();
      const before = sink.messages.length;
      for (let tenth = 0; tenth < 10 || sink.messages.length === before; tenth++) {
        for (let email = 0; email < 10; email++) requests.push(send(email % 2 === 0 ? { tags: ['even'] } : {}));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await change;
    }
    const ids = await Promise.all(requests);
    await Promise.all(ids.map(delivered));

    const messages = [left, right, mortal, world.smtp].flatMap((sink) => sink.messages);
    expect(messages.map(({ message_id }) => message_id).sort()).toEqual(ids.map((id) => `<${id}@shop.example>`).sort());
    for (const sink of [left, right, mortal, world.smtp]) expect(sink.messages.length).toBeGreaterThan(0);
  }, 60_000);

  it('takes a deleted transport out of use, and its waiting email to what the rules say now', async () => {
    const id = await transport('Dead', await closedPort());
    await setRules({ transports: [id] });
    await startWorker();
    const ids = await Promise.all(Array.from({ length: 30 }, () => send()));
    await expect
      .poll(async () => {
        const rows = await world.services.sql`select from parked_deliveries where lane like ${`% via ${id}`}`;
        return rows.length;
      }, PATIENCE)
      .toBeGreaterThan(0);

    await setRules();
    await invoke(instance(), deleteTransport, { transport_id: id });

    // What was tried before the relay's lane closed waits for its retry; the rest waited for the lane.
    const deferred = async () => (await world.services.sql`select from recipients where state = 'deferred'`).length;
    await expect.poll(async () => world.smtp.messages.length + (await deferred()), PATIENCE).toBe(ids.length);
    expect(world.smtp.messages.length).toBeGreaterThan(0);
    expect(await world.services.sql`select from parked_deliveries`).toHaveLength(0);
  });
});

describe('the limit of a destination', () => {
  it('holds over all transports together', async () => {
    const [bulk, other] = [await openSink(), await openSink()];
    const bulk_id = await transport('Bulk', bulk.port);
    const other_id = await transport('Other', other.port);
    await setRules({ tag: 'newsletter', transports: [bulk_id] }, { transports: [other_id] });
    await world.clock.freeze(NOON);
    await invoke(instance(), limitDestination, { destination: 'example.com', messages_per_minute: 5 });
    await startWorker();

    for (let count = 0; count < 6; count++) {
      await send();
      await send({ tags: ['newsletter'] });
    }

    await expect.poll(() => bulk.messages.length + other.messages.length, PATIENCE).toBe(5);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(bulk.messages.length + other.messages.length).toBe(5);
  });
});

describe('the limits of a transport', () => {
  const limit = (transport_id: string, fields: object) =>
    invoke(instance(), updateTransport, { transport_id, ...fields });

  it('are met exactly by two workers, and the rest waits for the next day', async () => {
    const sink = await openSink();
    const id = await transport('Limited', sink.port);
    await world.clock.freeze(NOON);
    await limit(id, { messages_per_day: 20 });
    await setRules({ transports: [id] });
    // Emails that the relay puts off do not count.
    let put_off = 0;
    sink.script(({ stage }) => {
      if (stage !== 'rcpt' || put_off >= 3) return { kind: 'accept' };
      put_off += 1;
      return { kind: 'reply', code: 451, text: 'later' };
    });
    await startWorker();
    await startWorker(await world.peer());

    const ids = await Promise.all(Array.from({ length: 50 }, () => send()));

    await expect.poll(() => sink.messages.length, PATIENCE).toBe(20);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(sink.messages).toHaveLength(20);
    await expect.poll(() => waitingFor('transport_limit', ids), PATIENCE).toBeGreaterThan(20);
    const { data } = await invoke(instance(), listDestinations, {});
    expect(data).toMatchObject([
      {
        transport_id: id,
        transport_name: 'Limited',
        reason: 'transport_limit',
        closed_until: '2030-01-02T00:00:00.000Z',
      },
    ]);

    await world.clock.advance(DAY_MS);
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(40);
    await world.clock.advance(DAY_MS);
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(50);
    expect(new Set(sink.messages.map(({ message_id }) => message_id)).size).toBe(ids.length);
  });

  it('close a lane for a minute, although less than a batch is left of the day', async () => {
    const sink = await openSink();
    const id = await transport('Limited', sink.port);
    await world.clock.freeze(NOON);
    await limit(id, { messages_per_minute: 10, messages_per_day: 25 });
    await setRules({ transports: [id] });
    await startWorker();

    await Promise.all(Array.from({ length: 40 }, () => send()));
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(10);
    await world.clock.advance(MINUTE_MS);
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(20);
    await world.clock.advance(MINUTE_MS);
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(25);

    await limit(id, { messages_per_day: null, messages_per_minute: null });
    await expect.poll(() => sink.messages.length, PATIENCE).toBe(40);
  });

  it('do not keep email that another transport can send as soon as it is back', async () => {
    const [first, second] = [await openSink(), await openSink()];
    const first_id = await transport('First', first.port);
    const second_id = await transport('Second', await closedPort());
    await world.clock.freeze(NOON);
    await limit(first_id, { messages_per_day: 1 });
    await setRules({ transports: [first_id, second_id] });
    await startWorker();
    await Promise.all(Array.from({ length: 20 }, () => send()));
    const parked = async () => (await world.services.sql`select from parked_deliveries`).length;
    await expect.poll(parked, PATIENCE).toBeGreaterThan(0);

    await invoke(instance(), updateTransport, { transport_id: second_id, port: second.port });
    for (let minute = 0; minute < 6; minute++) await world.clock.advance(MINUTE_MS);

    await expect.poll(parked, PATIENCE).toBe(0);
    expect(first.messages).toHaveLength(1);
    expect(second.messages.length).toBeGreaterThan(0);
  });

  it('send what is over them through the next transport of the rule', async () => {
    const [first, second] = [await openSink(), await openSink()];
    const first_id = await transport('First', first.port);
    const second_id = await transport('Second', second.port);
    await world.clock.freeze(NOON);
    await limit(first_id, { messages_per_minute: 5 });
    await setRules({ transports: [first_id, second_id] });
    await startWorker();

    await Promise.all((await Promise.all(Array.from({ length: 20 }, () => send()))).map(delivered));

    expect([first.messages.length, second.messages.length]).toEqual([5, 15]);
  });
});

describe('what a relay receives', () => {
  it('has no header that steers it, but the ones of its transport, under a signature that it may not break', async () => {
    const sink = await openSink();
    const id = await transport('SES', sink.port);
    await invoke(instance(), updateTransport, {
      transport_id: id,
      signing: 'relay_safe',
      envelope_from: 'from_domain',
      headers: { 'X-SES-CONFIGURATION-SET': 'transactional' },
    });
    await setRules({ transports: [id] });
    await startWorker();
    const headers = { 'X-SMTPAPI': '{"to":["eve@example.org"]}', 'x-pm-tag': 'a', 'X-Order': '1815' };

    await delivered(await send({ headers }));

    const [email] = sink.messages;
    if (!email) throw new Error('no email arrived');
    const text = email.raw.toString('latin1');
    expect(text).toMatch(/^X-SES-CONFIGURATION-SET: transactional\r\n/);
    expect(text).toContain('X-Order: 1815');
    expect(text).not.toMatch(/x-smtpapi|x-pm-tag/i);
    expect(email.envelope_from).toMatch(/@shop\.example$/);
    // As SES does.
    const rewritten = text
      .replace(/^Message-ID: .*$/m, 'Message-ID: <0100@eu-central-1.amazonses.com>')
      .replace(/^Date: .*$/m, 'Date: Sun, 29 Nov 2026 05:00:00 +0000');
    const signatures = await world.signatures({ raw: Buffer.from(rewritten, 'latin1') });
    expect(signatures).toEqual(['pass rsa-sha256 shop.example']);
  });
});
