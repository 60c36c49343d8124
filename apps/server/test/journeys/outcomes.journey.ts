import { createServer, type Server } from 'node:net';
import { type DnsZone, type SmtpRule, type SmtpSink, startDnsZone, startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };

/** Applies a verdict to a server's first transaction, or to the first for an address, and accepts afterwards. */
const once =
  (verdict: ReturnType<SmtpRule>): SmtpRule =>
  ({ nth, stage }) =>
    nth === 1 && stage !== 'mail' && stage !== 'connect' ? verdict : { kind: 'accept' };

const servers = {
  'well.test': { address: '127.0.0.11', rule: () => ({ kind: 'accept' }) },
  'busy.test': {
    address: '127.0.0.12',
    rule: once({ kind: 'reply', code: 451, text: '4.3.0 Try again', at: 'rcpt' }),
  },
  'strict.test': {
    address: '127.0.0.13',
    rule: () => ({ kind: 'reply', code: 554, text: '5.7.1 We do not like it', at: 'data' }),
  },
  'mixed.test': {
    address: '127.0.0.14',
    rule: (request) => {
      if (request.to.startsWith('gone@')) return { kind: 'reply', code: 550, text: '5.1.1 No such user here' };
      return request.to.startsWith('full@')
        ? once({ kind: 'reply', code: 452, text: '4.2.2 Full' })(request)
        : { kind: 'accept' };
    },
  },
  'forgetful.test': { address: '127.0.0.15', rule: once({ kind: 'drop', at: 'after_dot' }) },
  'clumsy.test': { address: '127.0.0.16', rule: once({ kind: 'drop', at: 'data' }) },
} as const satisfies Record<string, { address: string; rule: SmtpRule }>;
type Name = keyof typeof servers;

const SILENT = '127.0.0.17';
const CHATTY = '127.0.0.18';

let dns: DnsZone;
let journey: Journey;
let server: ServerProcess;
const sinks = new Map<string, SmtpSink>();
const strangers: Server[] = [];

/** Starts a server whose every octet is written by the test. */
async function listen(port: number, host: string, greeting: string | null): Promise<void> {
  const stranger = createServer((socket) => {
    socket.on('error', () => undefined);
    if (greeting !== null) socket.write(greeting);
  });
  await new Promise<void>((resolve) => stranger.listen(port, host, resolve));
  strangers.push(stranger);
}

beforeAll(async () => {
  let port = 0;
  for (const [name, { address, rule }] of Object.entries(servers)) {
    const sink = await startSmtpSink({ host: address, ...(port > 0 && { port }) });
    sink.script(rule);
    sinks.set(name, sink);
    port = sink.port;
  }
  await listen(port, SILENT, null);
  await listen(port, CHATTY, '220-welcome, and one word more\r\n'.repeat(2 ** 16));
  const addresses = { ...Object.fromEntries(Object.entries(servers).map(([name, { address }]) => [name, address])) };
  const zone = { ...addresses, 'silent.test': SILENT, 'chatty.test': CHATTY };
  dns = await startDnsZone(
    Object.fromEntries(
      Object.entries(zone).flatMap(([name, address]) => [
        [name, { MX: [{ priority: 10, exchange: `mx.${name}` }] }],
        [`mx.${name}`, { A: [address] }],
      ]),
    ),
  );
  journey = await openJourney({
    DELIVERY: 'mx',
    MX_PORT: String(port),
    MX_ALLOW_NETWORKS: '127.0.0.0/8',
    DNS_SERVERS: dns.address,
    HELO_NAME: 'mail.good.test',
    RETRY_SCHEDULE: '1s,1s,1s',
  });
  server = await journey.start();
  // Otherwise, polling would use up the rate window for log reads.
  await journey.sql`update plans set logs_per_minute = 100000`;
});
afterAll(async () => {
  await journey.stop();
  for (const sink of sinks.values()) await sink.stop();
  for (const stranger of strangers) stranger.close();
  await dns.stop();
});

async function send(to: string | string[], text = hello.text): Promise<() => Promise<Record<string, unknown>>> {
  const sent = await server.call('POST', '/v1/email/send', { body: { ...hello, to, text } });
  expect(sent.status).toBe(202);
  return async () => (await server.call('GET', `/v1/email/logs/${sent.body.id}`)).body;
}

const messagesAt = (name: Name) => sinks.get(name)?.messages ?? [];

describe("a mail server's response", () => {
  it("accepted: the email is delivered, and the server's response is recorded", async () => {
    const read = await send('ada@well.test');
    await expect.poll(read, PATIENCE).toMatchObject({
      status: 'delivered',
      attempts: [{ number: 1, outcome: 'accepted', stage: 'after_dot', reply: { code: 250 } }],
    });
    expect(messagesAt('well.test')).toHaveLength(1);
  });

  it('rejected temporarily: the email is deferred, and then delivered in one copy', async () => {
    const read = await send('ada@busy.test');
    await expect.poll(read, PATIENCE).toMatchObject({
      status: 'delivered',
      attempts: [
        { outcome: 'deferred', stage: 'rcpt', reply: { code: 451, enhanced: '4.3.0' } },
        { outcome: 'accepted' },
      ],
    });
    expect(messagesAt('busy.test')).toHaveLength(1);
  });

  it('rejected permanently: the email bounces after one attempt', async () => {
    const read = await send('ada@strict.test');
    await expect.poll(read, PATIENCE).toMatchObject({
      status: 'bounced',
      recipients: [{ bounce: { class: 'soft', category: 'policy', code: '5.7.1' } }],
      attempts: [{ outcome: 'rejected', reply: { code: 554, enhanced: '5.7.1' }, category: expect.any(String) }],
    });
  });

  it('rejected for some recipients: no other recipient receives a second copy', async () => {
    const read = await send(['fine@mixed.test', 'gone@mixed.test', 'full@mixed.test']);
    await expect
      .poll(async () => statusesOf(await read()), PATIENCE)
      .toEqual({
        'fine@mixed.test': 'delivered',
        'gone@mixed.test': 'bounced',
        'full@mixed.test': 'delivered',
      });
    expect(
      messagesAt('mixed.test')
        .map((mail) => mail.envelope_to[0])
        .sort(),
    ).toEqual(['fine@mixed.test', 'full@mixed.test']);
  });

  it('lost after the dot: the result is unknown, and the same email is sent again', async () => {
    const read = await send('ada@forgetful.test');
    await expect.poll(read, PATIENCE).toMatchObject({
      status: 'delivered',
      attempts: [{ outcome: 'unknown', stage: 'after_dot', reply: null }, { outcome: 'accepted' }],
    });
    const [first, second, ...rest] = messagesAt('forgetful.test');
    expect(rest).toEqual([]);
    expect(second?.raw).toEqual(first?.raw);
  });

  it('lost mid-message: the email is deferred, never unknown, and delivered in one copy', async () => {
    // So large that the connection closes before the final dot is written.
    const read = await send('ada@clumsy.test', 'A line of a long mail.\n'.repeat(400_000));
    await expect.poll(read, PATIENCE).toMatchObject({
      status: 'delivered',
      attempts: [{ outcome: 'deferred', stage: 'data' }, { outcome: 'accepted' }],
    });
    expect(messagesAt('clumsy.test')).toHaveLength(1);
  });

  it('a two-megabyte greeting: the email is deferred, and only a little of the greeting is stored', async () => {
    const read = await send('ada@chatty.test');
    await expect.poll(async () => (await read()).attempts, PATIENCE).toMatchObject([{ outcome: 'deferred' }]);
    expect(JSON.stringify(await read()).length).toBeLessThan(32 * 1024);
  });

  it('missing: only that email waits, and it returns to the queue on shutdown', async () => {
    const silent = await send('ada@silent.test');
    await expect.poll(async () => (await silent()).status, PATIENCE).toBe('sending');
    const other = await send('bob@well.test');
    await expect.poll(async () => (await other()).status, PATIENCE).toBe('delivered');
    expect((await silent()).status).toBe('sending');

    expect(await server.end()).toEqual({ code: 0, signal: null });
    const rows = await journey.sql`
      select state::text, lease, attempt_count from recipients where email = 'ada@silent.test'`;
    expect([...rows]).toEqual([{ state: 'queued', lease: null, attempt_count: 0 }]);
  });
});

function statusesOf(entry: Record<string, unknown>): Record<string, string> {
  const recipients = entry.recipients as { email: string; status: string }[];
  return Object.fromEntries(recipients.map(({ email, status }) => [email, status]));
}
