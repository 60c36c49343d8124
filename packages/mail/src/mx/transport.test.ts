import { type AddressInfo, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  type DnsZone,
  type SmtpSink,
  type SmtpSinkOptions,
  startDnsZone,
  startSmtpSink,
  type Zone,
} from '@postrider/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createMailer } from '../mailer.ts';
import type { Mailer, SendOutcome } from '../outcome/send-outcome.ts';
import { DEFAULT_TIMEOUTS } from '../smtp/timeouts.ts';
import { createMxTransport, type MxTransportOptions } from './transport.ts';

const raw = Buffer.from('Subject: x\r\n\r\nbody\r\n');
// Containers may lack IPv6.
const has_ipv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const signal = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function zoneOf(zone: Zone): Promise<DnsZone> {
  const dns = await startDnsZone(zone);
  closing.push(() => dns.stop());
  return dns;
}

async function sinkAt(host: string, port?: number, options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink({ host, ...(port !== undefined && { port }), ...options });
  closing.push(() => sink.stop());
  return sink;
}

/** Starts a scripted server: the first response is for the connection, the others for its commands. */
async function talkerAt(host: string, port: number, answer: (line: string, socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.setEncoding('latin1');
    let received = '';
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        const line = received.slice(0, end);
        received = received.slice(end + 2);
        answer(line, socket);
      }
    });
    answer('', socket);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function transport(dns: DnsZone, port: number, options: Partial<MxTransportOptions> = {}): Mailer {
  const mailer = createMxTransport({
    dns_servers: [dns.address],
    port,
    allow_networks: ['127.0.0.0/8', '::1'],
    helo_name: 'mail.sender.test',
    max_connections: 4,
    ...options,
  });
  closing.push(() => mailer.stop());
  return mailer;
}

function send(mailer: Mailer, to = 'ada@good.test'): Promise<SendOutcome> {
  return mailer.send({ from: 'bounce@sender.test', to }, raw, signal);
}

const mx = (...exchanges: string[]) => exchanges.map((exchange, place) => ({ priority: (place + 1) * 10, exchange }));

describe('a message’s destination', () => {
  it('is the MX with the lowest preference, reported in the outcome with its address', async () => {
    const [first, second] = [await sinkAt('127.0.0.2'), '127.0.0.3'];
    const spare = await sinkAt(second, first.port);
    const dns = await zoneOf({
      'good.test': { MX: mx('mx1.good.test', 'mx2.good.test') },
      'mx1.good.test': { A: ['127.0.0.2'] },
      'mx2.good.test': { A: [second] },
    });

    const outcome = await send(transport(dns, first.port));

    expect(outcome).toMatchObject({
      kind: 'accepted',
      target: `mx1.good.test:${first.port}`,
      address: '127.0.0.2',
      tls: null,
      tls_policy: 'opportunistic',
    });
    expect(first.messages).toHaveLength(1);
    expect(spare.connections()).toBe(0);
  });

  it('is the domain itself if it has no MX', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { A: ['127.0.0.2'] } });

    const outcome = await send(transport(dns, sink.port));

    expect(outcome).toMatchObject({ kind: 'accepted', target: `good.test:${sink.port}` });
  });

  it.runIf(has_ipv6)('may be an IPv6 address', async () => {
    const sink = await sinkAt('::1');
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { AAAA: ['::1'] } });

    const outcome = await send(transport(dns, sink.port));

    expect(outcome).toMatchObject({ kind: 'accepted', target: `mx1.good.test:${sink.port}`, address: '::1' });
  });

  it('may be in uppercase, internationalized or behind an alias', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({
      'xn--bcher-kva.test': { CNAME: ['good.test'] },
      'good.test': { MX: mx('MX1.Good.test') },
      'mx1.good.test': { A: ['127.0.0.2'] },
    });

    const outcome = await send(transport(dns, sink.port), 'ada@XN--bcher-kva.test');

    expect(outcome).toMatchObject({ kind: 'accepted', target: `mx1.good.test:${sink.port}` });
  });
});

describe('the next server to try', () => {
  const zone: Zone = {
    'good.test': { MX: mx('mx1.good.test', 'mx2.good.test') },
    'mx1.good.test': { A: ['127.0.0.2', '127.0.0.3'] },
    'mx2.good.test': { A: ['127.0.0.4'] },
  };

  it('is the same host’s next address if the connection is rejected, and the attempt reports the rejection', async () => {
    const second = await sinkAt('127.0.0.3');
    const third = await sinkAt('127.0.0.4', second.port);
    const dns = await zoneOf(zone);

    const outcome = await send(transport(dns, second.port));

    expect(outcome).toMatchObject({
      kind: 'accepted',
      target: `mx1.good.test:${second.port}`,
      address: '127.0.0.3',
      error: null,
    });
    expect(outcome.transcript).toMatch(/^-- mx1\.good\.test:\d+ \(127\.0\.0\.2\): connect ECONNREFUSED/);
    expect(third.connections()).toBe(0);
  });

  it.each([421, 450, 554])('is tried after a greeting of %i, and no address is tried twice', async (code) => {
    const spare = await sinkAt('127.0.0.4');
    const greeted: string[] = [];
    for (const host of ['127.0.0.2', '127.0.0.3']) {
      await talkerAt(host, spare.port, (line, socket) => {
        if (line === '') greeted.push(host);
        if (line === '') socket.write(`${code} 4.3.2 not now\r\n`);
      });
    }
    const dns = await zoneOf(zone);

    const outcome = await send(transport(dns, spare.port));

    expect(outcome).toMatchObject({ kind: 'accepted', target: `mx2.good.test:${spare.port}`, error: null });
    expect(greeted.sort()).toEqual(['127.0.0.2', '127.0.0.3']);
    expect(outcome.transcript).toMatch(/-- mx1\.good\.test:\d+ \(127\.0\.0\.2\): .*not now/);
  });

  it('is not tried after a recipient is rejected', async () => {
    const first = await sinkAt('127.0.0.2');
    const spare = await sinkAt('127.0.0.4', first.port);
    first.script(() => ({ kind: 'reply', code: 451, text: '4.7.1 greylisted' }));
    const dns = await zoneOf({ ...zone, 'mx1.good.test': { A: ['127.0.0.2'] } });

    const outcome = await send(transport(dns, first.port));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'rcpt', reply: { code: 451 } });
    expect(spare.connections()).toBe(0);
  });

  it('does not exist after the last server, so the email is deferred with each server’s reason', async () => {
    const closed = await sinkAt('127.0.0.4');
    await closed.stop();
    closing.pop();
    const dns = await zoneOf({ ...zone, 'mx1.good.test': { A: ['127.0.0.2', '10.9.8.7'] } });

    const outcome = await send(transport(dns, closed.port));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect', reply: null });
    expect(outcome.error).toMatch(/mx1\.good\.test: 10\.9\.8\.7 is not a public address \(private\)/);
    expect(outcome.error).toMatch(/mx1\.good\.test:\d+ \(127\.0\.0\.2\): connect ECONNREFUSED/);
    expect(outcome.error).toMatch(/mx2\.good\.test:\d+ \(127\.0\.0\.4\): connect ECONNREFUSED/);
  });

  it('is tried first for new connections while the first server is unreachable', async () => {
    const spare = await sinkAt('127.0.0.4');
    const dns = await zoneOf({ ...zone, 'mx1.good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, spare.port, { timeouts: { idle_ms: 1 } });
    expect((await send(mailer)).transcript).toContain('ECONNREFUSED');

    const repeats = await Promise.all([send(mailer), send(mailer)]);

    expect(repeats.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    expect(repeats.map(({ transcript }) => transcript).join()).not.toContain('ECONNREFUSED');
  });
});

describe('a domain without a mail server', () => {
  it.each<[string, Zone, { code: number; enhanced: string }, RegExp]>([
    [
      'with a null MX',
      { 'good.test': { MX: [{ priority: 0, exchange: '.' }], A: ['127.0.0.2'] } },
      { code: 556, enhanced: '5.1.10' },
      /good\.test does not accept email: it publishes a null MX/,
    ],
    ['that does not exist', {}, { code: 550, enhanced: '5.1.2' }, /good\.test does not exist/],
    [
      'without MX, A and AAAA',
      { 'good.test': { TXT: ['v=spf1 -all'] } },
      { code: 550, enhanced: '5.1.2' },
      /no MX, A or AAAA record/,
    ],
    [
      'whose MX has no address',
      { 'good.test': { MX: mx('mx1.good.test') } },
      { code: 550, enhanced: '5.4.4' },
      /no host of its MX records has an address/,
    ],
  ])(
    'promise P5: a domain %s fails before any connection, permanently only with a null MX',
    async (name, zone, reply, text) => {
      const sink = await sinkAt('127.0.0.2');
      const dns = await zoneOf(zone);

      const outcome = await send(transport(dns, sink.port));

      const kind = name === 'with a null MX' ? 'rejected' : 'deferred';
      expect(outcome).toMatchObject({ kind, stage: 'connect', target: '', address: null, reply });
      expect(outcome.reply?.text).toMatch(text);
      expect(sink.connections()).toBe(0);
    },
  );
});

describe('promise P5: a domain unknown to one name server', () => {
  it('is looked up on the next name server', async () => {
    const sink = await sinkAt('127.0.0.2');
    const lost = await zoneOf({});
    const right = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(lost, sink.port, { dns_servers: [lost.address, right.address] });

    expect(await send(mailer)).toMatchObject({ kind: 'accepted' });
  });
});

describe('promise P6: a server that accepts the connection and stays silent', () => {
  it('times out after five minutes by default, and the next server is preferred for later email', async () => {
    expect(DEFAULT_TIMEOUTS).toMatchObject({ greeting_ms: 300_000, command_ms: 300_000, data_ms: 120_000 });
    expect(DEFAULT_TIMEOUTS).toMatchObject({ block_ms: 180_000, after_dot_ms: 600_000 });
    const good = await sinkAt('127.0.0.2');
    let greeted = 0;
    await talkerAt('127.0.0.3', good.port, () => {
      greeted += 1;
    });
    const dns = await zoneOf({
      'good.test': { MX: [...mx('silent.good.test'), { priority: 20, exchange: 'mx2.good.test' }] },
      'silent.good.test': { A: ['127.0.0.3'] },
      'mx2.good.test': { A: ['127.0.0.2'] },
    });
    const mailer = transport(dns, good.port, { timeouts: { greeting_ms: 500, idle_ms: 1 } });

    expect(await send(mailer)).toMatchObject({ kind: 'accepted', address: '127.0.0.2' });
    expect(await send(mailer)).toMatchObject({ kind: 'accepted', address: '127.0.0.2' });

    expect(greeted).toBe(1);
  });
});

describe('promise P9: an unknown server that offers PIPELINING', () => {
  it('receives no envelope before its reply to the previous email’s dot', async () => {
    let ahead = 0;
    let content = false;
    const port = await talkerAt('127.0.0.2', 0, (line, socket) => {
      if (content && line !== '.') return;
      if (line === '.') {
        content = false;
        // By now, anything sent along with the dot has been split off and would be the next line.
        setImmediate(() => socket.write('250 2.0.0 taken\r\n'));
      } else if (line === '') socket.write('220 hello\r\n');
      else if (line.startsWith('EHLO')) socket.write('250-hello\r\n250 PIPELINING\r\n');
      else if (line === 'DATA') {
        content = true;
        socket.write('354 go\r\n');
      } else {
        if (line.startsWith('MAIL') && end_count < start_count) ahead += 1;
        if (line.startsWith('MAIL')) start_count += 1;
        socket.write('250 ok\r\n');
      }
    });
    let start_count = 0;
    let end_count = 0;
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, port, { max_connections: 1, timeouts: { prompt_ms: 100_000 } });

    const sent = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const outcome = await send(mailer, `${name}@good.test`);
        end_count += 1;
        return outcome.kind;
      }),
    );

    expect(sent).toEqual(Array(4).fill('accepted'));
    expect(ahead).toBe(0);
  });
});

describe('a DNS failure', () => {
  it.each(['SERVFAIL', 'REFUSED', 'timeout'] as const)(
    'defers email after a %s response, and DNS is queried again later',
    async (failure) => {
      const sink = await sinkAt('127.0.0.2');
      const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
      let time = 0;
      const mailer = transport(dns, sink.port, { dns_timeout_ms: 1000, now: () => time });
      dns.fail('good.test', failure);

      const failed = await send(mailer);
      dns.fail('good.test', null);
      time += 31_000;
      const second = await send(mailer);

      expect(failed).toMatchObject({ kind: 'deferred', stage: 'connect', reply: null, target: '' });
      expect(failed.error).toMatch(/DNS lookup failed for good\.test/);
      expect(second.kind).toBe('accepted');
    },
  );

  it.each([
    ['of the domain', { 'good.test': { CNAME: ['a.test'] }, 'a.test': { CNAME: ['good.test'] } }],
    [
      'of its MX',
      {
        'good.test': { MX: mx('mx1.good.test') },
        'mx1.good.test': { CNAME: ['a.test'] },
        'a.test': { CNAME: ['mx1.good.test'] },
      },
    ],
  ])('defers email after an alias loop %s', async (_name, zone) => {
    const dns = await zoneOf(zone);

    const outcome = await send(transport(dns, 2525));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(outcome.error).toMatch(/DNS leads in a circle: .*good\.test → a\.test → .*good\.test/);
  });

  it('does not delay an aborted attempt', async () => {
    const dns = await zoneOf({});
    dns.fail('good.test', 'timeout');
    const abort = new AbortController();
    const mailer = transport(dns, 2525);

    const sending = mailer.send({ from: 'b@sender.test', to: 'ada@good.test' }, raw, abort.signal);
    abort.abort();

    expect(await sending).toMatchObject({ kind: 'deferred', error: 'The attempt was aborted.' });
  });
});

describe('non-public addresses', () => {
  it.each([
    ['A', '127.0.0.2'],
    ['A', '10.0.0.1'],
    ['A', '169.254.169.254'],
    ['A', '100.64.0.1'],
    ['A', '0.0.0.0'],
    ['AAAA', '::1'],
    ['AAAA', '::ffff:127.0.0.2'],
    ['AAAA', '64:ff9b::7f00:2'],
    ['AAAA', '2002:7f00:2::1'],
    ['AAAA', 'fd00::1'],
    ['AAAA', 'fe80::1'],
    ['AAAA', '::7f00:2'],
  ] as const)('receive no connection for %s %s, and the email is deferred', async (type, address) => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { [type]: [address] } });

    const outcome = await send(transport(dns, sink.port, { allow_networks: [] }));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect', address: null });
    expect(outcome.error).toMatch(/not a public address|not an address|address range/);
    expect(sink.connections()).toBe(0);
  });

  it('are rejected both for an MX and for a domain without an MX', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { MX: mx('127.0.0.2') }, 'bare.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, sink.port, { allow_networks: ['10.0.0.0/8'] });

    const outcomes = [await send(mailer), await send(mailer, 'ada@bare.test'), await send(mailer, 'ada@[127.0.0.2]')];

    expect(outcomes.map(({ kind }) => kind)).toEqual(['deferred', 'deferred', 'deferred']);
    expect(sink.connections()).toBe(0);
  });
});

describe('a cached connection or DNS response', () => {
  it('is reused for ten messages, with one connection and one lookup in total', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, sink.port);

    for (let nth = 0; nth < 10; nth++) expect((await send(mailer)).kind).toBe('accepted');

    expect(sink.connections()).toBe(1);
    expect(dns.questions.toSorted()).toEqual([
      'A mx1.good.test',
      'AAAA mx1.good.test',
      'MX good.test',
      'TXT _mta-sts.good.test',
    ]);
  });

  it('is requested only once by concurrent attempts', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, sink.port);

    await Promise.all(Array.from({ length: 20 }, () => send(mailer)));

    expect(sink.messages).toHaveLength(20);
    expect(sink.connections()).toBe(4);
    expect(dns.questions.filter((question) => question === 'MX good.test')).toHaveLength(1);
  });

  it('is looked up again once it expires, and a changed response then takes effect', async () => {
    const sink = await sinkAt('127.0.0.2');
    const moved = await sinkAt('127.0.0.3', sink.port);
    const dns = await zoneOf({ 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } });
    let time = 0;
    const mailer = transport(dns, sink.port, { now: () => time });
    await send(mailer);
    dns.set('good.test', 'MX', mx('mx9.good.test'));
    dns.set('mx9.good.test', 'A', ['127.0.0.3']);

    time += 59_000;
    await send(mailer);
    expect(moved.messages).toHaveLength(0);
    time += 2000;
    await send(mailer);

    expect(moved.messages).toHaveLength(1);
  });

  it('is shared by a provider’s domains, which share a lane once the provider is known', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({
      'good.test': { MX: mx('mx1.provider.example') },
      'fine.test': { MX: mx('mx1.provider.example') },
      'mx1.provider.example': { A: ['127.0.0.2'] },
    });
    const mailer = transport(dns, sink.port);
    expect(mailer.laneOf('ada@good.test')).toBe('good.test');

    await send(mailer, 'ada@good.test');
    await send(mailer, 'ada@fine.test');

    expect(mailer.laneOf('bob@good.test')).toBe('provider.example');
    expect(mailer.laneOf('bob@Fine.test')).toBe('provider.example');
    expect(sink.connections()).toBe(1);
  });

  it('is not shared by a domain with several providers’ hosts, or with a host that rejects email', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({
      'good.test': { MX: mx('mx1.provider.example') },
      'hostile.test': { MX: mx('www.provider.example') },
      'mixed.test': { MX: mx('mx1.provider.example', 'mx.hostile.example') },
      'mx1.provider.example': { A: ['127.0.0.2'] },
      'www.provider.example': { A: ['127.0.0.3'] },
      'mx.hostile.example': { A: ['127.0.0.2'] },
    });
    const mailer = transport(dns, sink.port);

    for (const domain of ['good.test', 'hostile.test', 'mixed.test']) await send(mailer, `ada@${domain}`);

    expect(mailer.laneOf('ada@good.test')).toBe('provider.example');
    expect(mailer.laneOf('ada@hostile.test')).toBe('hostile.test');
    expect(mailer.laneOf('ada@mixed.test')).toBe('mixed.test');
  });
});

describe('STARTTLS', () => {
  const zone: Zone = { 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } };

  it('is used if offered, with any certificate, and the outcome reports the certificate’s validity', async () => {
    const sink = await sinkAt('127.0.0.2', undefined, { starttls: true });
    const dns = await zoneOf(zone);

    const outcome = await send(transport(dns, sink.port));

    expect(outcome).toMatchObject({
      kind: 'accepted',
      tls_policy: 'opportunistic',
      tls: { protocol: 'TLSv1.3', authorized: false },
    });
    expect(outcome.phases_ms.connect).toBeGreaterThan(0);
    expect(outcome.phases_ms.tls).toBeGreaterThan(0);
    expect(sink.messages[0]?.secure).toBe(true);
  });

  it('may fail during the handshake, because no policy requires TLS', async () => {
    const port = await talkerAt('127.0.0.2', 0, (line, socket) => {
      if (line === '') socket.write('220 mx1\r\n');
      else if (line.startsWith('EHLO')) socket.write('250-mx1\r\n250 STARTTLS\r\n');
      else if (line === 'STARTTLS') socket.end('220 go\r\nno handshake\r\n');
      else if (line === 'DATA') socket.write('354 go\r\n');
      else if (line === '.' || /^(?:MAIL|RCPT|RSET|QUIT)/.test(line)) socket.write('250 2.0.0 ok\r\n');
    });
    const dns = await zoneOf(zone);

    expect(await send(transport(dns, port))).toMatchObject({ kind: 'accepted', tls: null });
  });
});

describe('the SMTP conversation', () => {
  const zone: Zone = {
    'good.test': { MX: mx('mx1.good.test', 'mx2.good.test') },
    'mx1.good.test': { A: ['127.0.0.2'] },
  };

  it('ends with an unknown outcome if interrupted after the dot, and no other server gets a copy', async () => {
    const sink = await sinkAt('127.0.0.2');
    const spare = await sinkAt('127.0.0.3', sink.port);
    sink.script(() => ({ kind: 'drop', at: 'after_dot' }));
    const dns = await zoneOf({ ...zone, 'mx2.good.test': { A: ['127.0.0.3'] } });

    expect(await send(transport(dns, sink.port))).toMatchObject({ kind: 'unknown', stage: 'after_dot', reply: null });
    expect(spare.connections()).toBe(0);
  });

  it('survives a 2 MB reply', async () => {
    const port = await talkerAt('127.0.0.2', 0, (line, socket) => {
      if (line === '') socket.write(`220-${'x'.repeat(2_000_000)}\r\n220 mx1\r\n`);
    });
    const dns = await zoneOf(zone);

    const outcome = await send(transport(dns, port));

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(outcome.transcript.length).toBeLessThan(20_000);
  });

  it('survives a server that sends garbage', async () => {
    const port = await talkerAt(
      '127.0.0.2',
      0,
      (_line, socket) => void socket.write('\x00\xff\x07HTTP/1.1 200 OK\r\n'),
    );
    const dns = await zoneOf(zone);

    expect(await send(transport(dns, port, { timeouts: { greeting_ms: 2000 } }))).toMatchObject({ kind: 'deferred' });
  });

  it('sends nothing after 354 for an email without recipients', async () => {
    const lines: string[] = [];
    const port = await talkerAt('127.0.0.2', 0, (line, socket) => {
      lines.push(line);
      if (line === '') socket.write('220 mx1\r\n');
      else if (line.startsWith('EHLO')) socket.write('250-mx1\r\n250 PIPELINING\r\n');
      else if (line.startsWith('RCPT')) socket.write('550 5.1.1 no such user\r\n');
      else if (line === 'DATA') socket.write('354 go\r\n');
      else if (/^(?:MAIL|RSET|QUIT|\.$)/.test(line)) socket.write('250 ok\r\n');
    });
    const dns = await zoneOf(zone);

    expect(await send(transport(dns, port))).toMatchObject({ kind: 'rejected', stage: 'rcpt', reply: { code: 550 } });
    expect(lines).not.toContain('body');
  });
});

describe('an ordered list of transports', () => {
  const zone: Zone = { 'good.test': { MX: mx('mx1.good.test') }, 'mx1.good.test': { A: ['127.0.0.2'] } };

  async function withRelay(dns: DnsZone, port: number) {
    const relay = await sinkAt('127.0.0.1');
    const mailer = createMailer({
      helo_name: 'mail.sender.test',
      transports: [
        transport(dns, port),
        { host: relay.host, port: relay.port, secure: false, tls: 'opportunistic', max_connections: 2 },
      ],
    });
    closing.push(() => mailer.stop());
    return { relay, mailer };
  }

  it('falls back to the next transport if no mail server is reached, and the outcome names both', async () => {
    const closed = await sinkAt('127.0.0.2');
    await closed.stop();
    closing.pop();
    const { relay, mailer } = await withRelay(await zoneOf(zone), closed.port);

    const outcome = await send(mailer);

    expect(outcome).toMatchObject({ kind: 'accepted', target: `127.0.0.1:${relay.port}`, error: null });
    expect(outcome.transcript).toMatch(/^-- mx1\.good\.test:\d+: connect ECONNREFUSED/m);
  });

  it.each([
    ['before DATA, by a lost connection', 'rcpt', 1],
    ['during DATA, by a lost connection', 'data', 0],
    ['after the dot, by a lost connection', 'after_dot', 0],
  ] as const)('a failure %s sends %3$i copies through the next transport', async (_name, at, copies) => {
    const sink = await sinkAt('127.0.0.2');
    sink.script(() => ({ kind: 'drop', at }));
    const { relay, mailer } = await withRelay(await zoneOf(zone), sink.port);

    await send(mailer);

    expect(relay.messages).toHaveLength(copies);
  });

  it('stops at a server’s rejection, permanent or temporary, or at a domain that accepts no email', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ ...zone, 'null.test': { MX: [{ priority: 0, exchange: '.' }] } });
    const { relay, mailer } = await withRelay(dns, sink.port);
    sink.script(({ to }) => ({ kind: 'reply', code: to.startsWith('a') ? 450 : 550, text: 'no' }));

    const outcomes = [await send(mailer), await send(mailer, 'bob@good.test'), await send(mailer, 'a@null.test')];

    expect(outcomes.map(({ kind }) => kind)).toEqual(['deferred', 'rejected', 'rejected']);
    expect(relay.connections()).toBe(0);
  });
});

describe('a stopped transport', () => {
  it('sends nothing further', async () => {
    const sink = await sinkAt('127.0.0.2');
    const dns = await zoneOf({ 'good.test': { A: ['127.0.0.2'] } });
    const mailer = transport(dns, sink.port);
    await send(mailer);

    await mailer.stop();

    expect(await send(mailer)).toMatchObject({ kind: 'deferred', error: 'The transport is stopped.' });
    expect(sink.messages).toHaveLength(1);
  });
});
