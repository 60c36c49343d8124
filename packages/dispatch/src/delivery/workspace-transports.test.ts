import { createServer } from 'node:net';
import { type Context, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { testTransport } from '@postrider/core/doctor';
import { getMessage } from '@postrider/core/messages';
import { createTransport, deleteTransport, setTransportRules, updateTransport } from '@postrider/core/transports';
import { createSmtpTransport, type Mailer } from '@postrider/mail';
import { createWorld, type DnsZone, type SmtpSink, startDnsZone, startSmtpSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHoldCache } from '../holds/hold-cache.ts';
import { startDeliveryPump } from './pump.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };

let world: World;
let dns: DnsZone;
let other_id: string;
const ends: (() => Promise<unknown>)[] = [];

/** Starts an instance with two workspaces, whose relays may be at loopback only if `allow` says so. */
async function start(allow: string): Promise<void> {
  dns = await startDnsZone();
  ends.push(() => dns.stop());
  world = await createWorld({
    DELIVERY: 'smtp://127.0.0.1:2525',
    DNS_SERVERS: dns.address,
    WEBHOOK_ALLOW_NETWORKS: allow,
  });
  ends.push(() => world.stop());
  await world.domain('shop.example');
  other_id = (await world.workspace('business')).workspace_id;
  await world.domain('other.example', other_id);
  const { host, port } = world.smtp;
  const mailer: Mailer = createSmtpTransport({
    ...{ host, port, secure: false, tls: 'none', max_connections: 20, helo_name: 'localhost' },
  });
  const holds = startHoldCache(world.services);
  const pump = startDeliveryPump(world.services, { live: mailer, sandbox: mailer }, holds);
  ends.push(async () => {
    await pump.stop();
    await holds.stop();
    await mailer.stop();
  });
}
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function openSink(): Promise<SmtpSink> {
  const sink = await startSmtpSink();
  ends.push(() => sink.stop());
  return sink;
}

const shop = () => world.as(world.workspace_id);
const other = () => world.as(other_id);

async function ownTransport(ctx: Context, name: string, host: string, port: number): Promise<string> {
  const relay = { reach: 'workspace', name, kind: 'smtp', host, port, tls: 'none' };
  return (await invoke(ctx, createTransport, relay)).id;
}

const setOwnRules = (ctx: Context, ...rules: object[]) => invoke(ctx, setTransportRules, { reach: 'workspace', rules });

async function send(ctx: Context, from: string): Promise<string> {
  const email = { from, to: 'ada@example.com', subject: 'Hello', text: 'It works.' };
  return (await invoke(ctx, sendMessage, email)).id;
}

const emailOf = (ctx: Context, id: string) => invoke(ctx, getMessage, { id });
const statusOf = async (ctx: Context, id: string) => (await emailOf(ctx, id)).status;

describe('a relay of a workspace', () => {
  beforeEach(() => start('127.0.0.0/8'));

  it('carries its email alone, from the next email on', async () => {
    const sink = await openSink();
    dns.set('relay.test', 'A', ['127.0.0.1']);
    const id = await ownTransport(shop(), 'Relay', 'relay.test', sink.port);
    await setOwnRules(shop(), { transports: [id] });

    await expect
      .poll(async () => {
        const email_id = await send(shop(), 'hello@shop.example');
        await expect.poll(() => statusOf(shop(), email_id), PATIENCE).toBe('delivered');
        return (await emailOf(shop(), email_id)).attempts.at(-1)?.transport_id;
      }, PATIENCE)
      .toBe(id);
    const before = sink.messages.length;
    const foreign_id = await send(other(), 'hello@other.example');
    await expect.poll(() => statusOf(other(), foreign_id), PATIENCE).toBe('delivered');

    expect(sink.messages).toHaveLength(before);
    expect((await emailOf(other(), foreign_id)).attempts.at(-1)?.transport_id).toBeNull();
  });

  it('takes nothing from another workspace when it is dead, and its email moves on with the rules', async () => {
    const closed = await startSmtpSink();
    await closed.stop();
    const id = await ownTransport(shop(), 'Dead', '127.0.0.1', closed.port);
    await setOwnRules(shop(), { transports: [id] });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const ids = await Promise.all(Array.from({ length: 60 }, () => send(shop(), 'hello@shop.example')));
    const parked = async () => (await world.services.sql`select from parked_deliveries`).length;
    await expect.poll(parked, PATIENCE).toBeGreaterThan(0);

    const foreign_ids = await Promise.all(Array.from({ length: 20 }, () => send(other(), 'hello@other.example')));
    for (const foreign_id of foreign_ids)
      await expect.poll(() => statusOf(other(), foreign_id), PATIENCE).toBe('delivered');
    expect((await Promise.all(ids.map((email_id) => statusOf(shop(), email_id)))).includes('delivered')).toBe(false);

    await setOwnRules(shop());
    await invoke(shop(), deleteTransport, { transport_id: id });
    await expect.poll(parked, PATIENCE).toBe(0);
    await expect.poll(() => world.smtp.messages.length, PATIENCE).toBeGreaterThan(20);
  });
});

describe('a relay at a private address', () => {
  beforeEach(() => start('192.0.2.0/24'));

  /** Starts a server that counts its connections. */
  async function openServer(): Promise<{ readonly port: number; connections(): number }> {
    let count = 0;
    const server = createServer((socket) => {
      count += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, connections: () => count };
  }

  it.each(['127.0.0.1', 'localhost', '::ffff:127.0.0.1', 'inside.test'])(
    'is not connected to, and errors name no address: %s',
    async (host) => {
      const server = await openServer();
      dns.set('inside.test', 'A', ['127.0.0.1']);
      const id = await ownTransport(shop(), 'Inside', host, server.port);
      await setOwnRules(shop(), { transports: [id] });
      await new Promise((resolve) => setTimeout(resolve, 1500));

      const email_id = await send(shop(), 'hello@shop.example');
      await expect.poll(async () => (await emailOf(shop(), email_id)).attempts.length, PATIENCE).toBe(1);
      const checkup = await invoke(shop(), testTransport, { transport_id: id });

      expect(await statusOf(shop(), email_id)).toBe('deferred');
      expect((await emailOf(shop(), email_id)).attempts[0]?.error).toMatch(/no public address|not a public address/);
      expect(checkup.status).toBe('failing');
      if (host === 'inside.test') expect(JSON.stringify(checkup)).not.toContain('127.0.0.1');
      expect(server.connections()).toBe(0);
    },
  );

  it('is not connected to after its name has moved there', async () => {
    const server = await openServer();
    dns.set('moving.test', 'A', ['192.0.2.1']);
    const id = await ownTransport(shop(), 'Moving', 'moving.test', server.port);
    await setOwnRules(shop(), { transports: [id] });
    dns.set('moving.test', 'A', ['127.0.0.1']);
    await new Promise((resolve) => setTimeout(resolve, 1500));

    const email_id = await send(shop(), 'hello@shop.example');
    await expect.poll(async () => (await emailOf(shop(), email_id)).attempts.length, PATIENCE).toBe(1);
    await invoke(shop(), updateTransport, { transport_id: id, name: 'Moved' });

    expect((await emailOf(shop(), email_id)).attempts[0]?.error).toMatch(/no public address/);
    expect(server.connections()).toBe(0);
  });
});
