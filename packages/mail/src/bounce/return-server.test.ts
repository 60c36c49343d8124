import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { visitSmtp } from '@postrider/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { certificate } from '../../test/certificate.ts';
import { type CameBack, type ReturnServer, type ReturnServerOptions, startReturnServer } from './return-server.ts';

let server: ReturnServer;
const came: CameBack[] = [];
afterEach(async () => {
  await server.stop();
  came.length = 0;
});

async function start(options: Partial<ReturnServerOptions> = {}): Promise<void> {
  server = await startReturnServer({
    host: '127.0.0.1',
    port: 0,
    name: 'mx.example.org',
    tls: null,
    places: { take: () => true, give: () => undefined },
    isReturnPath: (address) => address.startsWith('b+'),
    onMail: async (mail) => {
      came.push(mail);
      return 'taken';
    },
    ...options,
  });
}

async function open() {
  const visitor = await visitSmtp(server.port);
  await visitor.say('EHLO visitor.test');
  await visitor.say('MAIL FROM:<>');
  return visitor;
}

describe('the returned-email server', () => {
  it('accepts several emails in one session, and replies to each', async () => {
    const replies = ['taken', 'later'] as const;
    await start({ onMail: async () => replies[came.push({ from: '', to: '', raw: Buffer.alloc(0) }) - 1] ?? 'taken' });
    const visitor = await open();

    await visitor.say('RCPT TO:<b+1@example.org>');
    await visitor.say('DATA');
    expect(await visitor.say('Subject: 1\r\n\r\n.')).toMatch(/^250 /);
    await visitor.say('MAIL FROM:<>');
    await visitor.say('RCPT TO:<b+2@example.org>');
    await visitor.say('DATA');
    expect(await visitor.say('Subject: 2\r\n\r\n.')).toMatch(/^451 /);
    visitor.close();
  });

  it('replies 451 if an email cannot be processed', async () => {
    await start({ onMail: () => Promise.reject(new Error('no database')) });
    const visitor = await open();
    await visitor.say('RCPT TO:<b+1@example.org>');
    await visitor.say('DATA');

    expect(await visitor.say('Subject: 1\r\n\r\n.')).toMatch(/^451 /);
    visitor.close();
  });

  it('keeps the first megabyte of a larger email', async () => {
    await start();
    const visitor = await open();
    await visitor.say('RCPT TO:<b+1@example.org>');
    await visitor.say('DATA');

    expect(await visitor.say(`Subject: 1\r\n\r\n${'x'.repeat(3 * 1024 * 1024)}\r\n.`)).toMatch(/^250 /);
    expect(came.map((mail) => [mail.from, mail.raw.length])).toEqual([['', 1024 * 1024]]);
    visitor.close();
  });

  it('rejects an announced size too large for any report before the content is sent', async () => {
    await start();
    const visitor = await visitSmtp(server.port);
    await visitor.say('EHLO visitor.test');

    expect(await visitor.say('MAIL FROM:<> SIZE=40000000')).toMatch(/^552 /);
    visitor.close();
  });

  it('requires no login, and offers neither AUTH nor STARTTLS without a certificate', async () => {
    await start();
    const visitor = await visitSmtp(server.port);
    await visitor.say('EHLO visitor.test');

    expect(await visitor.say('AUTH PLAIN AGEAYg==')).toMatch(/^5/);
    expect(await visitor.say('STARTTLS')).toMatch(/^5/);
    visitor.close();
  });

  it('offers STARTTLS if it has a certificate', async () => {
    await start({ tls: { key: Buffer.from(certificate.key), cert: Buffer.from(certificate.cert) } });
    const plain = connect(server.port, '127.0.0.1');
    for (const line of ['EHLO visitor.test', 'STARTTLS']) {
      await once(plain, 'data');
      plain.write(`${line}\r\n`);
    }
    await once(plain, 'data');

    const secure = connectTls({ socket: plain, servername: 'mx.example.org', ca: certificate.cert });
    await once(secure, 'secureConnect');

    expect(secure.authorized).toBe(true);
    secure.write('EHLO visitor.test\r\n');
    expect(String((await once(secure, 'data'))[0])).toMatch(/^250-/);
    secure.destroy();
  });

  it('disconnects a session that is kept alive for too long', async () => {
    await start({ session_ms: 200 });
    const socket = connect(server.port, '127.0.0.1');
    // once() from node:events is not used, because it rejects if a byte in transit causes a reset.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.resume();
    const drip = setInterval(() => socket.write('N'), 20);

    await closed;
    clearInterval(drip);

    expect(socket.destroyed).toBe(true);
  });
});
