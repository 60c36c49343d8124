import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { forgetStsPolicies, stsPolicyStore } from '@postrider/core/delivery';
import { createMxTransport, type SendOutcome } from '@postrider/mail';
import { createWorld, mailCertificate, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const POLICY_HOST = '127.0.0.9';
const policy = 'version: STSv1\r\nmode: enforce\r\nmx: mx1.good.test\r\nmax_age: 86400\r\n';
const trusted = getCACertificates('default');
const closing: (() => Promise<unknown>)[] = [];
let world: World;
let policy_port: number;

beforeAll(async () => {
  setDefaultCACertificates([...trusted, mailCertificate.cert]);
  world = await createWorld();
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

/** A mail by a transport that has just begun, as that of a worker which was started anew. */
async function sendByAnother(): Promise<SendOutcome> {
  const transport = createMxTransport({
    dns_servers: [world.dns.address],
    port: world.smtp.port,
    policy_port,
    policy_store: stsPolicyStore(world.services),
    allow_networks: ['127.0.0.0/8'],
    helo_name: 'mail.sender.test',
    max_connections: 1,
  });
  try {
    const envelope = { from: 'bounce@sender.test', to: 'ada@good.test' };
    return await transport.send(envelope, Buffer.from('Subject: x\r\n\r\nbody\r\n'), new AbortController().signal);
  } finally {
    await transport.stop();
  }
}

describe('an MTA-STS policy that was fetched', () => {
  it('holds for workers that start later, though its record is gone, until its time is over', async () => {
    world.dns.set('good.test', 'MX', [{ priority: 10, exchange: 'mx1.good.test' }]);
    world.dns.set('mx1.good.test', 'A', ['127.0.0.1']);
    world.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=1;']);
    world.dns.set('mta-sts.good.test', 'A', [POLICY_HOST]);

    // The server offers no TLS, which the policy does not allow.
    const first = await sendByAnother();
    world.dns.remove('_mta-sts.good.test');
    world.dns.remove('mta-sts.good.test');
    const stripped = await sendByAnother();
    await world.clock.advance(86_400_000);
    const expired = await sendByAnother();

    for (const outcome of [first, stripped]) expect(outcome).toMatchObject({ kind: 'deferred', tls_policy: 'mta-sts' });
    expect(expired).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
  });

  it('is forgotten when its time is over, or where there are too many', async () => {
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

  it('is nothing that mail goes without, where the database does not answer', async () => {
    const peer = await world.peer();
    await peer.sql.end();

    await expect(stsPolicyStore(peer).read('good.test')).rejects.toThrow();
  });
});
