import { type DnsZone, type SmtpSink, startDnsZone, startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let dns: DnsZone;
let spare: SmtpSink;
let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  spare = await startSmtpSink({ host: '127.0.0.3', starttls: true });
  dns = await startDnsZone({
    'example.com': {
      MX: [
        { priority: 10, exchange: 'mx1.example.com' },
        { priority: 20, exchange: 'mx2.example.com' },
      ],
    },
    'mx1.example.com': { A: ['127.0.0.2'] },
    'mx2.example.com': { A: ['127.0.0.3'] },
    'null.example': { MX: [{ priority: 0, exchange: '.' }] },
    'inner.example': { A: ['10.1.2.3'] },
  });
  journey = await openJourney({
    DELIVERY: 'mx',
    MX_PORT: String(spare.port),
    MX_ALLOW_NETWORKS: '127.0.0.0/8',
    DNS_SERVERS: dns.address,
    HELO_NAME: 'mail.good.test',
  });
  server = await journey.start();
});
afterAll(async () => {
  await journey.stop();
  await spare.stop();
  await dns.stop();
});

/** Sends a message and waits for the log entry of its first attempt. */
async function firstAttempt(to: string) {
  const sent = await server.call('POST', '/v1/email/send', { body: { ...hello, to } });
  expect(sent.status).toBe(202);
  const read = async () => (await server.call('GET', `/v1/email/logs/${sent.body.id}`)).body;
  await expect.poll(async () => (await read()).attempts, { timeout: 30_000 }).toHaveLength(1);
  return await read();
}

describe('a process with DELIVERY=mx', () => {
  it("finds a domain's servers, falls back to the second over TLS, and records both facts on the attempt", async () => {
    const entry = await firstAttempt('ada@example.com');

    expect(entry).toMatchObject({
      status: 'delivered',
      attempts: [
        {
          outcome: 'accepted',
          target: `mx2.example.com:${spare.port}`,
          address: '127.0.0.3',
          tls: { protocol: 'TLSv1.3', authorized: false },
          tls_policy: 'opportunistic',
          phases_ms: { connect: expect.any(Number), tls: expect.any(Number), data: expect.any(Number) },
        },
      ],
    });
    expect(spare.messages).toMatchObject([{ envelope_to: ['ada@example.com'], secure: true }]);
    expect(dns.questions).toContain('MX example.com');
  });

  it('bounces email at a null MX, and holds email for a private address', async () => {
    expect(await firstAttempt('ada@null.example')).toMatchObject({
      status: 'bounced',
      attempts: [{ outcome: 'rejected', reply: { code: 556, enhanced: '5.1.10' } }],
    });
    expect(await firstAttempt('ada@inner.example')).toMatchObject({
      status: 'deferred',
      attempts: [{ outcome: 'deferred', error: expect.stringContaining('10.1.2.3 is not a public address (private)') }],
    });
  });

  it('shuts down while connections are open', async () => {
    expect(await server.end()).toEqual({ code: 0, signal: null });
  });
});
