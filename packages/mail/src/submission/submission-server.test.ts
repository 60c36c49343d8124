import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { certificate } from '../../test/certificate.ts';
import type { SharedPlaces } from '../smtp/shared-places.ts';
import type { ClientBounds } from './client-bounds.ts';
import {
  type Certificate,
  type SubmissionServer,
  type SubmittedMail,
  startSubmissionServer,
} from './submission-server.ts';

const TLS = { key: Buffer.from(certificate.key), cert: Buffer.from(certificate.cert) };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Creates shared places with `own_places` slots for each owner. */
function roomFor(own_places: number): SharedPlaces {
  const amounts = new Map<string, number>();
  return {
    take(owner, count = 1) {
      const own = (amounts.get(owner) ?? 0) + count;
      if (own <= own_places) amounts.set(owner, own);
      return own <= own_places;
    },
    give: (owner, count = 1) => void amounts.set(owner, (amounts.get(owner) ?? 0) - count),
  };
}

interface Room {
  readonly strangers?: number;
  readonly clients?: number;
  readonly bytes?: number;
}

async function start(
  { strangers = 20, clients = 20, bytes = 1_000_000, ...bounds }: Partial<ClientBounds> & Room,
  onMail: (mail: SubmittedMail) => Promise<void> = async () => {},
  tls: Certificate | null = null,
) {
  const server = await startSubmissionServer<{ readonly name: string }>({
    host: '127.0.0.1',
    port: 0,
    name: 'mail.good.test',
    tls,
    implicit: false,
    plaintext: true,
    max_bytes: 1_000_000,
    bounds,
    strangers: roomFor(strangers),
    clients: roomFor(clients),
    bytes: roomFor(bytes),
    senderOf: ({ name }) => name,
    onLogin: async (_user, password) => ({ name: password }),
    async onMail(_login, mail) {
      await onMail(mail);
      return { code: 250, enhanced: '2.0.0', text: 'Taken' };
    },
  });
  closing.push(() => server.stop());
  return server;
}

/** Resolves when a connection is closed, even by a reset: a line may be in transit as the server closes. */
const closeOf = (socket: Socket) => new Promise<unknown>((resolve) => socket.once('close', resolve));

/** Starts a conversation in which each line waits for the previous reply. */
function talk({ port }: SubmissionServer) {
  const socket: Socket = connect(port, '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.on('error', () => undefined);
  const closed = closeOf(socket);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  const reply = async () => {
    await expect.poll(() => /^\d{3} .*\r\n/m.test(received) || socket.destroyed).toBe(true);
    const text = received;
    received = '';
    return text;
  };
  return {
    socket,
    closed,
    reply,
    async say(line: string) {
      socket.write(`${line}\r\n`);
      return reply();
    },
    async logIn(name: string) {
      await reply();
      await this.say('EHLO me');
      return this.say(`AUTH PLAIN ${Buffer.from(`\0api\0${name}`).toString('base64')}`);
    },
    async data() {
      await this.say('MAIL FROM:<a@good.test>');
      await this.say('RCPT TO:<ada@example.com>');
      return this.say('DATA');
    },
  };
}

describe('a client that is not logged in', () => {
  it('is disconnected after a time limit, whatever it sends', async () => {
    const server = await start({ login_ms: 300 });
    const slow = talk(server);
    await slow.reply();
    const drip = setInterval(() => slow.socket.write('E'), 20);

    await slow.closed;
    clearInterval(drip);
  });

  it('has a limited number of connections per address, and a login frees one', async () => {
    const server = await start({ strangers: 2 });
    const [one, two] = [talk(server), talk(server)];
    expect(await one.reply()).toMatch(/^220/);
    expect(await two.reply()).toMatch(/^220/);

    await talk(server).closed;
    await one.say('EHLO me');
    expect(await one.say(`AUTH PLAIN ${Buffer.from('\0api\0shop').toString('base64')}`)).toMatch(/^235/);

    expect(await talk(server).reply()).toMatch(/^220/);
    expect(await one.say('NOOP')).toMatch(/^250/);
  });
});

describe('a client that upgrades to TLS', () => {
  it('frees its place when it disconnects or its login time expires', async () => {
    const server = await start({ strangers: 1, login_ms: 700 }, undefined, TLS);
    const upgrade = async () => {
      const client = talk(server);
      expect(await client.reply()).toMatch(/^220/);
      await client.say('EHLO me');
      await client.say('STARTTLS');
      client.socket.removeAllListeners('data');
      const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
      secure.on('error', () => undefined);
      await once(secure, 'secureConnect');
      return secure;
    };

    const freeUpgrade = async () => {
      for (;;) {
        const secure = await upgrade().catch(() => null);
        if (secure) return secure;
      }
    };
    const free = () => expect.poll(() => talk(server).reply()).toMatch(/^220/);

    (await upgrade()).destroy();
    await free();
    for (const close of closing.splice(1)) close();
    await closeOf(await freeUpgrade());
    await free();
  });
});

describe('a client that is logged in', () => {
  it('stays connected after the login time limit', async () => {
    const server = await start({ login_ms: 500 });
    const [shop, stranger] = [talk(server), talk(server)];
    await shop.logIn('shop');

    await stranger.closed;

    expect(await shop.say('NOOP')).toMatch(/^250/);
  });

  it('counts toward the connection limit of its sender', async () => {
    const server = await start({ clients: 1 });
    const [one, two, other] = [talk(server), talk(server), talk(server)];

    expect(await one.logIn('shop')).toMatch(/^235/);
    expect(await two.logIn('shop')).toMatch(/^421 4\.7\.0 Too many connections/);
    expect(await other.logIn('blog')).toMatch(/^235/);

    one.socket.destroy();
    await expect.poll(() => talk(server).logIn('shop')).toMatch(/^235/);
  });

  it('is disconnected to make room if idle under load, but not while sending an email', async () => {
    const server = await start({ crowd: 2, idle_ms: 0 });
    const [sending, idle, next] = [talk(server), talk(server), talk(server)];
    await sending.logIn('shop');
    await sending.data();
    await idle.logIn('shop');

    expect(await next.logIn('blog')).toMatch(/^235/);

    expect(await idle.reply()).toMatch(/^421 4\.4\.2 Idle/);
    expect(await sending.say('Hello\r\n.')).toMatch(/^250/);
  });

  it('is disconnected if an email takes too long, whatever the client sends', async () => {
    const server = await start({ mail_ms: 300 });
    const slow = talk(server);
    await slow.logIn('shop');
    expect(await slow.data()).toMatch(/^354/);
    const drip = setInterval(() => slow.socket.write('x'), 20);

    expect(await slow.reply()).toMatch(/^421 4\.4\.2/);
    await slow.closed;
    clearInterval(drip);
  });

  it('is deferred while its sender exceeds its share of email in progress, and served again afterward', async () => {
    const release = Promise.withResolvers<void>();
    const lengths: number[] = [];
    const server = await start({ bytes: 1500 }, async ({ raw }) => {
      lengths.push(raw.length);
      await release.promise;
    });
    const [one, two, other] = [talk(server), talk(server), talk(server)];
    const mail = `${'x'.repeat(1000)}\r\n.`;
    for (const [client, name] of [
      [one, 'shop'],
      [two, 'shop'],
      [other, 'blog'],
    ] as const) {
      await client.logIn(name);
      await client.data();
    }

    one.socket.write(`${mail}\r\n`);
    await expect.poll(() => lengths).toEqual([1002]);
    expect(await two.say(mail)).toMatch(/^451 4\.3\.1 Too much email/);
    other.socket.write(`${mail}\r\n`);
    await expect.poll(() => lengths).toHaveLength(2);
    release.resolve();

    expect(await one.reply()).toMatch(/^250/);
    await two.data();
    expect(await two.say(mail)).toMatch(/^250/);
  });

  it('can deliver every byte, however the data is split', async () => {
    const messages: Buffer[] = [];
    const server = await start({}, async ({ raw }) => void messages.push(raw));
    const client = talk(server);
    await client.logIn('shop');
    await client.data();
    const body = Array.from({ length: 3000 }, (_, index) => `line ${index}\r\n`).join('');

    for (const piece of body.match(/[\s\S]{1,7}/g) ?? []) client.socket.write(piece);

    expect(await client.say('.')).toMatch(/^250/);
    expect(messages[0]?.toString()).toBe(body);
  });
});

describe('a stopping submission server', () => {
  it('fairness N7: replies to a complete email, and sends 421 to a client mid-email', async () => {
    const stored = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const server = await start({}, () => {
      arrived.resolve();
      return stored.promise;
    });
    const [full, half] = [talk(server), talk(server)];
    for (const client of [full, half]) {
      await client.logIn('shop');
      await client.data();
    }
    half.socket.write('Subject: half');
    full.socket.write('Subject: whole\r\n\r\n.\r\n');
    await arrived.promise;

    const stopped = server.stop();
    expect(await half.reply()).toMatch(/^421/);
    await half.closed;
    stored.resolve();

    expect(await full.reply()).toMatch(/^250/);
    await stopped;
  });
});
