import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type DnsZone, mailCertificate, startDnsZone, startWebhookSink, type WebhookSink } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpGuard, type HttpGuard, type HttpGuardOptions } from './http-guard.ts';

let sink: WebhookSink;
let dns: DnsZone;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  sink = await startWebhookSink();
  dns = await startDnsZone();
  closing.push(
    () => sink.stop(),
    () => dns.stop(),
  );
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function guardOf(options: Partial<HttpGuardOptions> = {}): HttpGuard {
  const guard = createHttpGuard({ allow_networks: [], dns_servers: [dns.address], ...options });
  closing.push(() => guard.stop());
  return guard;
}

const open = (options: Partial<HttpGuardOptions> = {}) => guardOf({ allow_networks: ['127.0.0.0/8'], ...options });
const post = (guard: HttpGuard, url: string) => guard.post({ url, headers: { 'x-a': 'b' }, body: Buffer.from('{}') });
const portOf = (url: string) => new URL(url).port;

/** Starts a server that responds to each connection with custom bytes. */
async function talker(response: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => response(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a non-public address', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    'localhost.',
    'a.localhost',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '0.0.0.0',
  ])('is rejected in every notation for the local machine: %s', async (host) => {
    const outcome = await post(guardOf(), `http://${host}:${portOf(sink.url)}/`);

    expect(outcome).toMatchObject({ kind: 'failed', error: expect.stringMatching(/not a public address|not public/) });
    expect(sink.requests).toEqual([]);
  });

  it.each([
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '[fd00::1]',
    '[fe80::1]',
  ])('is rejected when written as %s', async (host) => {
    expect(await post(guardOf(), `http://${host}/`)).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/not a public address/),
    });
  });

  it('is rejected if a name resolves to it, even if it previously resolved to a public address', async () => {
    const guard = guardOf();
    const url = `http://hook.test:${portOf(sink.url)}/`;
    dns.set('hook.test', 'A', ['203.0.113.9']);
    dns.set('good.test', 'A', ['8.8.8.8']);
    expect(await guard.refusal(new URL('http://good.test'))).toBe(null);

    dns.set('hook.test', 'A', ['127.0.0.1']);

    expect(await post(guard, url)).toMatchObject({
      kind: 'failed',
      error: 'hook.test resolves to an address that is not public',
    });
    expect(await guard.refusal(new URL(url))).toBe('hook.test resolves to an address that is not public');
    expect(sink.requests).toEqual([]);
  });

  it('is accepted by both address and name if the operator has allowed its network', async () => {
    dns.set('hook.test', 'A', ['10.0.0.1', '127.0.0.1']);

    expect(await post(open(), `${sink.url}/a`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(await post(open(), `http://hook.test:${portOf(sink.url)}/b`)).toMatchObject({ status: 200 });

    expect(sink.requests.map(({ path, headers }) => [path, headers['x-a'], headers.host])).toEqual([
      ['/a', 'b', new URL(sink.url).host],
      ['/b', 'b', `hook.test:${portOf(sink.url)}`],
    ]);
  });
});

describe('an HTTP response', () => {
  it('is returned, not followed, if it is a redirect', async () => {
    sink.script(() => ({ kind: 'reply', status: 302, headers: { location: 'http://169.254.169.254/' } }));

    expect(await post(open(), sink.url)).toMatchObject({ kind: 'answered', status: 302 });
    expect(sink.requests).toHaveLength(1);
  });

  it('is truncated to its first kilobyte, without control characters, and includes Retry-After', async () => {
    sink.script(() => ({
      kind: 'reply',
      status: 503,
      headers: { 'retry-after': '7' },
      body: `a\u0000b\r\nc${'é'.repeat(5000)}`,
    }));

    const outcome = await post(open(), sink.url);

    if (outcome.kind !== 'answered') throw new Error(outcome.error);
    expect(outcome.retry_after).toBe('7');
    expect(outcome.text).toMatch(/^a b cé+\uFFFD?$/);
    expect(Buffer.byteLength(outcome.text)).toBeLessThanOrEqual(1024);
  });

  it('is judged by its status even if its body never ends, breaks off or is too long', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n';
    const endless = await talker((socket) => socket.write(`${head}begun`));
    const broken = await talker((socket) => socket.end(`${head}begun`));
    const long = await talker((socket) => socket.write(head + 'x'.repeat(500_000)));

    const guard = open({ timeout_ms: 300 });
    expect(await post(guard, endless)).toMatchObject({ kind: 'answered', status: 200, text: 'begun' });
    expect(await post(guard, broken)).toMatchObject({ kind: 'answered', status: 200, text: 'begun' });
    expect(await post(guard, long)).toMatchObject({ kind: 'answered', status: 200, text: 'x'.repeat(1024) });
  });

  it('is treated as missing if it is late, however slowly it trickles in', async () => {
    const silent = await talker(() => undefined);
    const dripping = await talker((socket) => {
      const timer = setInterval(() => socket.write('X-A: b\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
      socket.write('HTTP/1.1 200 OK\r\n');
    });

    const guard = open({ timeout_ms: 400 });

    const error = 'no response within 0.4 seconds';
    expect(await post(guard, silent)).toEqual({ kind: 'failed', error });
    expect(await post(guard, dripping)).toEqual({ kind: 'failed', error });
  });

  it('is treated as missing if its headers exceed 16 kB or it is not HTTP', async () => {
    const large = await talker((socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(20_000)}\r\n\r\n`));
    const other = await talker((socket) => socket.end('220 mail ready\r\n'));

    expect(await post(open(), large)).toMatchObject({ kind: 'failed' });
    expect(await post(open(), other)).toMatchObject({ kind: 'failed' });
  });

  it('is missing if no server is listening, the name is unknown, or the caller aborts', async () => {
    const stopped = await startWebhookSink();
    await stopped.stop();
    const gave_up = new AbortController();
    sink.script(() => ({ kind: 'stall', until: closed.promise }));
    const closed = Promise.withResolvers<void>();

    expect(await post(open(), stopped.url)).toMatchObject({ error: expect.stringContaining('ECONNREFUSED') });
    expect(await post(open(), 'http://nowhere.test/')).toMatchObject({
      error: 'nowhere.test could not be resolved: ENOTFOUND',
    });
    const pending = open().post({ url: sink.url, headers: {}, body: Buffer.from('{}') }, gave_up.signal);
    await sink.waitFor(1);
    gave_up.abort(new Error('stopping'));
    expect(await pending).toEqual({ kind: 'failed', error: 'stopping' });
    closed.resolve();
  });

  it('is missing once the client has stopped, whether or not the client has posted before', async () => {
    const used = open();
    const unused = open();
    await post(used, sink.url);
    await Promise.all([used.stop(), unused.stop()]);

    expect(await post(used, sink.url)).toEqual({ kind: 'failed', error: 'the client is stopped' });
    expect(await post(unused, sink.url)).toEqual({ kind: 'failed', error: 'the client is stopped' });
  });

  it('is treated as missing over TLS without a trusted certificate for the host', async () => {
    const responding = createTlsServer(mailCertificate, (_, response) => response.end());
    await new Promise<void>((resolve) => responding.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      responding.closeAllConnections();
      await new Promise((resolve) => responding.close(resolve));
    });
    const { port } = responding.address() as AddressInfo;
    for (const name of ['mx1.good.test', 'other.test']) dns.set(name, 'A', ['127.0.0.1']);

    expect(await post(open(), `https://mx1.good.test:${port}/`)).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/self-signed certificate/),
    });
    const known = getCACertificates('default');
    setDefaultCACertificates([mailCertificate.cert]);
    try {
      expect(await post(open(), `https://other.test:${port}/`)).toMatchObject({
        kind: 'failed',
        error: expect.stringContaining('does not match'),
      });
      expect(await post(open(), `https://mx1.good.test:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    } finally {
      setDefaultCACertificates(known);
    }
  });
});
