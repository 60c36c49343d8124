import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type DnsZone, startDnsZone } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

// A key may read 120 times a minute.
const PATIENCE = { timeout: 60_000, interval: 1000 };
const LONG_MS = 90_000;
// Longer than the half minute within which a relay must greet.
const LATE_GREETING_MS = 32_000;

interface Session {
  readonly socket: Socket;
  line: string;
  content: boolean;
  unanswered: boolean;
}

let dns: DnsZone;
let journey: Journey;
let server: ServerProcess;
let late_server: string;
const servers: Server[] = [];
const open = new Set<Socket>();
/** The number of envelopes that started before the previous message got its reply. */
let ahead = 0;

/** Starts a mail server that calls `response` for each line, and with an empty line for the greeting. */
async function strangerAt(host: string, port: number, response: (session: Session) => void): Promise<number> {
  const listener = createServer((socket) => {
    const session: Session = { socket, line: '', content: false, unanswered: false };
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    socket.setEncoding('latin1');
    let received = '';
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        session.line = received.slice(0, end);
        received = received.slice(end + 2);
        response(session);
      }
    });
    response(session);
  });
  listener.listen(port, host);
  await once(listener, 'listening');
  servers.push(listener);
  // A TCP socket has an address with a port.
  return (listener.address() as AddressInfo).port;
}

/** Sends the usual replies and offers PIPELINING. */
function reply(session: Session): void {
  const { socket, line } = session;
  if (session.content) {
    if (line !== '.') return;
    session.content = false;
    // Any data that arrived with the final dot has been read by then and would be handled next.
    setTimeout(() => {
      session.unanswered = false;
      socket.write('250 2.0.0 taken\r\n');
    }, 50);
  } else if (line === '') socket.write('220 hello\r\n');
  else if (line.startsWith('EHLO')) socket.write('250-hello\r\n250 PIPELINING\r\n');
  else if (line === 'QUIT') socket.end('221 bye\r\n');
  else if (line === 'DATA') {
    session.content = true;
    session.unanswered = true;
    socket.write('354 go\r\n');
  } else {
    if (line.startsWith('MAIL') && session.unanswered) ahead += 1;
    socket.write('250 ok\r\n');
  }
}

const send = async (to: string) => {
  const response = await server.call('POST', '/v1/email/send', { body: { ...hello, to } });
  expect(response.status).toBe(202);
  return String(response.body.id);
};
const read = async (id: string) => (await server.call('GET', `/v1/email/logs/${id}`)).body;

beforeAll(async () => {
  const port = await strangerAt('127.0.0.2', 0, reply);
  await strangerAt('127.0.0.3', port, (session) => {
    if (session.line === '') setTimeout(() => session.socket.write('220 hello\r\n'), LATE_GREETING_MS);
    else reply(session);
  });
  dns = await startDnsZone({
    'prompt.example': { MX: [{ priority: 10, exchange: 'mx.prompt.example' }] },
    'mx.prompt.example': { A: ['127.0.0.2'] },
    'late.example': { MX: [{ priority: 10, exchange: 'mx.late.example' }] },
    'mx.late.example': { A: ['127.0.0.3'] },
  });
  journey = await openJourney({
    DELIVERY: 'mx',
    MX_PORT: String(port),
    MX_ALLOW_NETWORKS: '127.0.0.0/8',
    DNS_SERVERS: dns.address,
    HELO_NAME: 'mail.good.test',
    RETRY_SCHEDULE: '1s,1s,2s,2s,4s,4s,8s,8s',
    LIMITS: 'site_connections=1',
  });
  server = await journey.start();
  late_server = await send('ada@late.example');
});
afterAll(async () => {
  await journey.stop();
  for (const socket of open) socket.destroy();
  for (const listener of servers) listener.close();
  await dns.stop();
});

describe('a domain missing from DNS', () => {
  it(
    'promise P5: gets its email once it is back, and none of its addresses are suppressed',
    async () => {
      const id = await send('ada@back.example');
      await expect.poll(() => read(id), PATIENCE).toMatchObject({ status: 'deferred' });

      dns.set('back.example', 'MX', [{ priority: 10, exchange: 'mx.prompt.example' }]);

      await expect.poll(() => read(id), PATIENCE).toMatchObject({ status: 'delivered' });
      expect(await journey.sql`select from suppressions`).toHaveLength(0);
    },
    LONG_MS,
  );
});

describe('an unfamiliar mail server', () => {
  it(
    'promise P9: gets no envelope before it responds to the previous email, even if it offers PIPELINING',
    async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, (_, number) => send(`to${number}@prompt.example`)));

      for (const id of ids) await expect.poll(() => read(id), PATIENCE).toMatchObject({ status: 'delivered' });
      expect(ahead).toBe(0);
    },
    LONG_MS,
  );

  it(
    'promise P6: gets its email on the first attempt, even if it sends its greeting after half a minute',
    async () => {
      await expect
        .poll(() => read(late_server), PATIENCE)
        .toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
    },
    LONG_MS,
  );
});
