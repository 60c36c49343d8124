import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { forgetStsPolicies, stsPolicyStore } from '@postrider/core/delivery';
import { createMxTransport, type SendOutcome } from '@postrider/mail';
import { createWorld, mailCertificate, type World } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const POLICY_HOST = '127.0.0.9';
// Longer than a transport caches its findings about a domain.
const TWO_MINUTES_MS = 120_000;
const policy = 'version: STSv1\r\nmode: enforce\r\nmx: mx1.good.test\r\nmax_age: 86400\r\n';
const trusted = getCACertificates('default');
const closing: (() => Promise<unknown>)[] = [];
let world: World;
let policy_port: number;

beforeAll(async () => {
  setDefaultCACertificates([...trusted, mailCertificate.cert]);
  world = await createWorld();
  world.dns.set('good.test', 'MX', [{ priority: 10, exchange: 'mx1.good.test' }]);
  world.dns.set('mx1.good.test', 'A', ['127.0.0.1']);
  const https = createServer(mailCertificate, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(policy);
  });
  await new Promise<void>((resolve) => https.listen(0, POLICY_HOST, resolve));
  policy_port = (https.address() as AddressInfo).port;
  closing.push(() => {
    https.closeAllConnections();
    return new Promise((resolve) => https.close(resolve));
  });
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await world.stop();
  setDefaultCACertificates(trusted);
});

beforeEach(async () => {
  strip();
  await world.services.sql`delete from sts_policies`;
});

/** Returns one worker's transport, with a clock of its own. */
function worker(now?: () => number) {
  const transport = createMxTransport({
    dns_servers: [world.dns.address],
    port: world.smtp.port,
    policy_port,
    policy_store: stsPolicyStore(world.services),
    allow_networks: ['127.0.0.0/8'],
    helo_name: 'mail.sender.test',
    max_connections: 1,
    ...(now && { now }),
  });
  const envelope = { from: 'bounce@sender.test', to: 'ada@good.test' };
  const send = () => transport.send(envelope, Buffer.from('Subject: x\r\n\r\nbody\r\n'), new AbortController().signal);
  return { send, stop: () => transport.stop() };
}

/** Sends a message through a new transport, as a restarted worker would. */
async function sendByAnother(): Promise<SendOutcome> {
  const { send, stop } = worker();
  try {
    return await send();
  } finally {
    await stop();
  }
}

function publish(): void {
  world.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=1;']);
  world.dns.set('mta-sts.good.test', 'A', [POLICY_HOST]);
}

function strip(): void {
  world.dns.remove('_mta-sts.good.test');
  world.dns.remove('mta-sts.good.test');
}

describe('a fetched MTA-STS policy', () => {
  it('applies to workers that start later, even without its DNS record, until it expires', async () => {
    publish();

    // The server offers no TLS, so the policy forbids delivery.
    const first = await sendByAnother();
    strip();
    const stripped = await sendByAnother();
    await world.clock.advance(86_400_000);
    const expired = await sendByAnother();

    for (const outcome of [first, stripped]) expect(outcome).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
    expect(expired).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
  });

  it.each<[string, () => void]>([
    ['there was none', () => strip()],
    ['its host did not answer', () => world.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=1;'])],
  ])('applies to a worker that looked it up when %s, even if the record is missing now', async (_name, before) => {
    let time = 0;
    const early = worker(() => time);
    before();

    const first = await early.send();
    publish();
    await sendByAnother();
    strip();
    time += TWO_MINUTES_MS;
    const stripped = await early.send();
    await early.stop();

    expect(first).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
    expect(stripped).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
  });

  it('applies to a worker that could not fetch it, while its host does not respond', async () => {
    let time = 0;
    const early = worker(() => time);
    world.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=1;']);

    const first = await early.send();
    publish();
    await sendByAnother();
    world.dns.remove('mta-sts.good.test');
    time += TWO_MINUTES_MS;
    const blocked = await early.send();
    await early.stop();

    expect(first).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
    expect(blocked).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
  });

  it('applies to a worker whose own copy expired, if another worker has fetched it since', async () => {
    let time = 0;
    const early = worker(() => time);
    publish();

    const first = await early.send();
    time += 86_400_000;
    await world.services.sql`delete from sts_policies`;
    await sendByAnother();
    strip();
    const expired = await early.send();
    await early.stop();

    for (const outcome of [first, expired]) expect(outcome).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
  });

  it("is replaced by another worker's weaker policy only if the DNS record requires it", async () => {
    let time = 0;
    const early = worker(() => time);
    publish();
    await early.send();
    const testing = { id: '2', mode: 'testing', mx: ['mx1.good.test'], max_age_seconds: 3600 } as const;
    await stsPolicyStore(world.services).write('good.test', testing);

    strip();
    time += TWO_MINUTES_MS;
    const stripped = await early.send();
    world.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=2;']);
    time += TWO_MINUTES_MS;
    const changed = await early.send();
    await early.stop();

    expect(stripped).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
    expect(changed).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
  });

  it('is deleted when it expires, or when too many policies are stored', async () => {
    const store = stsPolicyStore(world.services);
    const domains = async () =>
      (await world.services.sql`select domain from sts_policies order by domain`).map((row) => row.domain);
    for (const [domain, max_age_seconds] of [
      ['hour.test', 3600],
      ['day.test', 86_400],
      ['week.test', 604_800],
    ] as const)
      await store.write(domain, { id: '1', mode: 'enforce', mx: ['mx.test'], max_age_seconds });
    await world.clock.advance(3_600_000);

    await forgetStsPolicies(world.services.sql);
    expect(await domains()).toEqual(['day.test', 'week.test']);
    await forgetStsPolicies(world.services.sql, 1);
    expect(await domains()).toEqual(['week.test']);
  });

  it('is never ignored if the database does not respond', async () => {
    const peer = await world.peer();
    await peer.sql.end();

    await expect(stsPolicyStore(peer).read('good.test')).rejects.toThrow();
  });
});
