import { mailCertificate, type SmtpSink, startSmtpSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { createEncryption } from '../process/encryption.ts';
import { createTransport, setTransportRules } from '../transports/index.ts';
import { examineMachine } from './examine-machine.ts';
import { testTransport } from './test-transport.ts';

const world = await openWorld({ DELIVERY: 'smtp://127.0.0.1:2525' });
await world.domain('shop.example');
const sinks: SmtpSink[] = [];
beforeEach(async () => {
  await world.services.sql`delete from transport_rules`;
  await world.services.sql`delete from transports`;
});
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
});

const ctx = (changes: Partial<Context> = {}) => ({ ...world.as(world.workspace_id), ...changes });
const LOGIN = { user: 'shop', pass: 'right' };

async function openSink(options: Parameters<typeof startSmtpSink>[0] = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink(options);
  sinks.push(sink);
  return sink;
}

/** Creates a transport and returns its ID. */
async function transport(fields: object): Promise<string> {
  const { id } = await invoke(ctx(), createTransport, {
    name: 'SES',
    kind: 'smtp',
    host: '127.0.0.1',
    tls: 'none',
    ...fields,
  });
  return id;
}

/** Tests a transport and returns the status of each check. */
async function statuses(transport_id: string, email: object = {}) {
  const { checks } = await invoke(ctx(), testTransport, { transport_id, ...email });
  return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
}

describe('a test of a transport', () => {
  it('reports a host without an address, and skips what follows', async () => {
    const id = await transport({ host: 'nowhere.invalid' });

    expect(await statuses(id)).toEqual({
      dns: 'failing',
      connect: 'skipped',
      tls: 'skipped',
      sign_in: 'skipped',
      test_email: 'skipped',
    });
  });

  it('reports a port at which no server listens', async () => {
    const sink = await startSmtpSink();
    await sink.stop();

    expect(await statuses(await transport({ port: sink.port }))).toMatchObject({ dns: 'ok', connect: 'failing' });
  });

  it('reports a relay without the TLS that the policy requires', async () => {
    const { port } = await openSink();

    expect(await statuses(await transport({ port, tls: 'starttls' }))).toMatchObject({
      connect: 'ok',
      tls: 'failing',
      sign_in: 'skipped',
    });
  });

  it('reports a certificate that is not valid for the host', async () => {
    const { port } = await openSink({ starttls: true, tls: mailCertificate });

    expect(await statuses(await transport({ port, tls: 'starttls' }))).toMatchObject({ tls: 'failing' });
    expect(await statuses(await transport({ name: 'any', port, tls: 'opportunistic' }))).toMatchObject({ tls: 'ok' });
  });

  it('reports a password that the relay rejects, without showing it', async () => {
    const { port } = await openSink({ login: LOGIN });
    const id = await transport({ port, username: 'shop', password: 'a-wrong-password' });

    const checkup = await invoke(ctx(), testTransport, { transport_id: id, to: 'ada@example.com' });

    expect(checkup.status).toBe('failing');
    expect(checkup.checks.find(({ name }) => name === 'sign_in')).toMatchObject({
      status: 'failing',
      detail: expect.stringContaining('535'),
    });
    expect(JSON.stringify(checkup)).not.toContain('a-wrong-password');
  });

  it('signs in and sends a signed test email, whatever the rules say', async () => {
    const sink = await openSink({ login: LOGIN });
    const id = await transport({
      port: sink.port,
      username: LOGIN.user,
      password: LOGIN.pass,
      headers: { 'X-Set': 'tests' },
    });
    const email = { to: 'Ada <ada@example.com>', from: 'Shop <hello@shop.example>' };

    expect(await statuses(id, email)).toEqual({
      dns: 'ok',
      connect: 'ok',
      tls: 'skipped',
      sign_in: 'ok',
      test_email: 'ok',
    });
    const [message] = sink.messages;
    expect(message).toMatchObject({ envelope_from: 'hello@shop.example', envelope_to: ['ada@example.com'] });
    expect(message?.raw.toString()).toMatch(/^X-Set: tests\r\nDKIM-Signature: .*?d=shop\.example;/s);
  });

  it('reports a password that this process cannot decrypt', async () => {
    const id = await transport({ username: 'shop', password: 'right' });
    const encryption = createEncryption('e'.repeat(64));

    const { checks } = await invoke(ctx({ encryption }), testTransport, { transport_id: id });

    expect(checks[0]).toMatchObject({ name: 'sign_in', status: 'failing', detail: expect.stringMatching(/decrypt/) });
  });

  it('refuses a sender whose domain no workspace has verified', async () => {
    const sink = await openSink();
    const id = await transport({ port: sink.port });
    const email = { to: 'ada@example.com', from: 'hello@other.example' };

    const { checks } = await invoke(ctx(), testTransport, { transport_id: id, ...email });

    expect(checks.at(-1)).toMatchObject({ status: 'failing', detail: 'No workspace has verified other.example.' });
    expect(sink.messages).toEqual([]);
  });

  it('sends nothing while DELIVERY captures', async () => {
    const sink = await openSink();
    const id = await transport({ port: sink.port });
    const config = { ...world.services.config, DELIVERY: [{ kind: 'capture' } as const] };
    const input = { transport_id: id, to: 'ada@example.com' };

    const { checks } = await invoke(ctx({ config }), testTransport, input);

    expect(checks.at(-1)).toMatchObject({ name: 'test_email', status: 'skipped' });
    expect(sink.messages).toEqual([]);
  });
});

describe('the check of relays', () => {
  const relays = async (changes: Partial<Context> = {}) => {
    const { checks } = await invoke(ctx(changes), examineMachine, {});
    return checks.find(({ name }) => name === 'relays');
  };

  it('names the relay of a rule that cannot be reached, and passes once the rules use another', async () => {
    const sink = await openSink();
    const dead = await startSmtpSink();
    await dead.stop();
    const [first, second] = [
      await transport({ name: 'Dead', port: dead.port }),
      await transport({ name: 'Alive', port: sink.port }),
    ];
    await invoke(ctx(), setTransportRules, { rules: [{ transports: [first] }] });
    expect(await relays()).toMatchObject({ status: 'failing', detail: expect.stringMatching(/^Dead: /) });

    await invoke(ctx(), setTransportRules, { rules: [{ transports: [second] }] });

    expect(await relays()).toMatchObject({ status: 'ok', detail: 'Ready to accept email: Alive.' });
  });

  it('is skipped if no email goes through a relay', async () => {
    const config = { ...world.services.config, DELIVERY: [{ kind: 'mx' } as const] };

    expect(await relays({ config })).toMatchObject({ status: 'skipped' });
  });
});
