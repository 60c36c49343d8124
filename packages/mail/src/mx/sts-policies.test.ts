import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  type DnsZone,
  mailCertificate,
  type SmtpSink,
  type SmtpSinkOptions,
  startDnsZone,
  startSmtpSink,
} from '@postrider/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMailer } from '../mailer.ts';
import type { Mailer, SendOutcome } from '../outcome/send-outcome.ts';
import { createMxTransport, type MxTransportOptions } from './transport.ts';

const POLICY_HOST = '127.0.0.9';
const raw = Buffer.from('Subject: x\r\n\r\nbody\r\n');
const trusted = getCACertificates('default');
const closing: (() => Promise<unknown>)[] = [];

beforeAll(() => setDefaultCACertificates([...trusted, mailCertificate.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const enforced = 'version: STSv1\r\nmode: enforce\r\nmx: mx1.good.test\r\nmax_age: 86400\r\n';
const tested = enforced.replace('enforce', 'testing');

interface ServedPolicy {
  status?: number;
  type?: string;
  location?: string;
  body: string;
}

/** Creates good.test with one mail server, and a host that serves its policy. */
async function destination(served: ServedPolicy, sink_options: SmtpSinkOptions = {}, mail_host = 'mx1.good.test') {
  const sink = await startSmtpSink({ host: '127.0.0.2', ...sink_options });
  closing.push(() => sink.stop());
  const paths: string[] = [];
  const https = createServer(mailCertificate, (request, response) => {
    paths.push(`${request.headers.host}${request.url}`);
    response.writeHead(served.status ?? 200, {
      'content-type': served.type ?? 'text/plain; charset=utf-8',
      ...(served.location && { location: served.location }),
    });
    response.end(served.body);
  });
  await new Promise<void>((resolve) => https.listen(0, POLICY_HOST, resolve));
  closing.push(() => {
    https.closeAllConnections();
    return new Promise((resolve) => https.close(resolve));
  });
  const dns = await startDnsZone({
    'good.test': { MX: [{ priority: 10, exchange: mail_host }] },
    [mail_host]: { A: ['127.0.0.2'] },
    '_mta-sts.good.test': { TXT: ['v=STSv1; id=1;'] },
    'mta-sts.good.test': { A: [POLICY_HOST] },
  });
  closing.push(() => dns.stop());
  return { sink, dns, paths, policy_port: (https.address() as AddressInfo).port };
}

function transport(
  { dns, sink, policy_port }: { dns: DnsZone; sink: SmtpSink; policy_port: number },
  options: Partial<MxTransportOptions> = {},
): Mailer {
  const mailer = createMxTransport({
    dns_servers: [dns.address],
    port: sink.port,
    policy_port,
    allow_networks: ['127.0.0.0/8'],
    helo_name: 'mail.sender.test',
    max_connections: 4,
    ...options,
  });
  closing.push(() => mailer.stop());
  return mailer;
}

function send(mailer: Mailer, to = 'ada@good.test'): Promise<SendOutcome> {
  const envelope = { from: 'bounce@sender.test', to };
  return mailer.send(envelope, raw, new AbortController().signal);
}

const secure = { starttls: true, tls: mailCertificate };

describe('an enforced MTA-STS policy', () => {
  it('allows email to a listed host with a valid certificate', async () => {
    const receiver = await destination({ body: enforced }, secure);

    const outcome = await send(transport(receiver));

    expect(outcome).toMatchObject({
      kind: 'accepted',
      tls_policy: 'mta-sts',
      tls: { protocol: 'TLSv1.3', authorized: true },
    });
    expect(receiver.paths).toEqual(['mta-sts.good.test/.well-known/mta-sts.txt']);
    expect(receiver.sink.messages[0]?.secure).toBe(true);
  });

  it.each<[string, SmtpSinkOptions]>([
    ['STARTTLS is not offered', {}],
    ['the certificate is not good', { starttls: true }],
  ])('defers email if %s, and sends nothing in plaintext', async (_name, options) => {
    const receiver = await destination({ body: enforced }, options);
    const queries: string[] = [];
    receiver.sink.script(({ stage }) => {
      queries.push(stage);
      return { kind: 'accept' };
    });

    const outcome = await send(transport(receiver));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect', tls: null, tls_policy: 'mta-sts' });
    expect(queries).toEqual(['connect']);
  });

  it('defers email if STARTTLS is rejected, without sending MAIL', async () => {
    const receiver = await destination({ body: enforced });
    const lines: string[] = [];
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.setEncoding('latin1').on('data', (line: string) => {
        lines.push(line.trim());
        socket.write(line.startsWith('EHLO') ? '250-mx1\r\n250 STARTTLS\r\n' : '454 4.7.0 not today\r\n');
      });
      socket.write('220 mx1\r\n');
    });
    await new Promise<void>((resolve) => server.listen(receiver.sink.port, '127.0.0.3', resolve));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    receiver.dns.set('mx1.good.test', 'A', ['127.0.0.3']);

    const outcome = await send(transport(receiver));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect', tls_policy: 'mta-sts' });
    expect(lines.filter((line) => !/^(?:EHLO|STARTTLS|QUIT)/.test(line))).toEqual([]);
  });

  it('blocks email to a host it does not list, and email through another transport', async () => {
    const receiver = await destination({ body: enforced }, secure, 'mx2.good.test');
    const relay = await startSmtpSink();
    closing.push(() => relay.stop());
    const mailer = createMailer({
      helo_name: 'mail.sender.test',
      transports: [
        transport(receiver),
        { host: relay.host, port: relay.port, secure: false, tls: 'opportunistic', max_connections: 2 },
      ],
    });
    closing.push(() => mailer.stop());

    const outcome = await send(mailer);

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect', tls_policy: 'mta-sts' });
    expect(outcome.error).toContain('mx2.good.test: not a host of the MTA-STS policy of good.test');
    expect(receiver.sink.connections()).toBe(0);
    expect(relay.connections()).toBe(0);
  });

  it('is looked up once while valid, and still applies after its record and host disappear', async () => {
    const receiver = await destination({ body: enforced }, secure);
    let time = 0;
    const mailer = transport(receiver, { now: () => time });
    await send(mailer);
    receiver.dns.remove('_mta-sts.good.test');
    receiver.dns.remove('mta-sts.good.test');

    time += 3_600_000;
    const second = await send(mailer);
    time += 86_400_000;
    const expired = await send(mailer);

    expect(second).toMatchObject({ kind: 'accepted', tls_policy: 'mta-sts' });
    expect(receiver.paths).toHaveLength(1);
    expect(expired).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
  });

  it('is fetched again if its id changes', async () => {
    const served = { body: enforced };
    const receiver = await destination(served, secure);
    let time = 0;
    const mailer = transport(receiver, { now: () => time });
    await send(mailer);
    served.body = tested;
    receiver.dns.set('_mta-sts.good.test', 'TXT', ['v=STSv1; id=2;']);

    time += 3_600_000;
    const outcome = await send(mailer);

    expect(outcome).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
    expect(receiver.paths).toHaveLength(2);
  });
});

describe('a policy in testing mode', () => {
  it('blocks nothing, and the attempt reports what enforcement would have blocked', async () => {
    const receiver = await destination({ body: tested }, {}, 'mx2.good.test');

    const outcome = await send(transport(receiver));

    expect(outcome).toMatchObject({ kind: 'accepted', tls: null, tls_policy: 'opportunistic' });
    expect(outcome.transcript).toContain(
      '-- mx2.good.test: not a host of the MTA-STS policy of good.test, which is in',
    );
  });
});

describe('a policy for one domain', () => {
  it('is not applied to another domain with the same servers', async () => {
    const receiver = await destination({ body: tested }, {}, 'mx2.good.test');
    receiver.dns.set('fine.test', 'MX', [{ priority: 10, exchange: 'mx2.good.test' }]);
    const mailer = transport(receiver);

    for (const to of ['ada@good.test', 'ada@fine.test']) await send(mailer, to);

    const turns = ['fine.test', 'good.test', 'fine.test', 'good.test'];
    const outcomes = await Promise.all(turns.map((domain) => send(mailer, `bob@${domain}`)));

    const mentions = outcomes.map(({ transcript }) => transcript.includes('MTA-STS policy of good.test'));
    expect(mentions[0] || mentions[2]).toBe(false);
    expect(mentions[1] || mentions[3]).toBe(true);
  });
});

describe('an invalid MTA-STS policy', () => {
  it.each<[string, ServedPolicy]>([
    ['another status', { status: 404, body: enforced }],
    ['a redirect', { status: 301, location: 'https://mta-sts.good.test/other.txt', body: enforced }],
    ['another type', { type: 'text/html', body: enforced }],
    ['no policy at all', { body: 'hello' }],
    ['too much', { body: `${enforced}${'x'.repeat(70_000)}` }],
  ])('is ignored (%s), and email is sent as if there were no policy', async (_name, served) => {
    const receiver = await destination(served);

    expect(await send(transport(receiver))).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
    expect(receiver.paths).toHaveLength(1);
  });

  it('is not fetched from a host with a non-public address', async () => {
    const receiver = await destination({ body: enforced });

    const outcome = await send(transport(receiver, { allow_networks: ['127.0.0.2'] }));

    expect(outcome).toMatchObject({ kind: 'accepted', tls_policy: 'opportunistic' });
    expect(receiver.paths).toEqual([]);
  });
});
