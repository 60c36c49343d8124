import { readFileSync } from 'node:fs';
import { type SmtpSink, startDnsZone, startSmtpSink } from '@postrider/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { blocksOf } from '../../../../scripts/doc-blocks.ts';
import { runBlocks } from '../../../../scripts/run-doc-blocks.ts';
import { hello, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const PAGE = 'docs/transports.md';
const PATIENCE = { timeout: 30_000, interval: 500 };

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function startRelay(pass: string): Promise<SmtpSink> {
  const relay = await startSmtpSink({ login: { user: 'shop', pass } });
  endings.push(() => relay.stop());
  return relay;
}

async function startService(env: Readonly<Record<string, string>> = {}) {
  const journey = await openJourney(env);
  endings.push(() => journey.stop());
  const server = await journey.start();
  return { server, journey };
}

/** Runs the commands of a guide, with these relays in place of its hosts. Other tests compare what they print. */
async function follow(
  heading: string,
  server: ServerProcess,
  key: string,
  relays: Readonly<Record<string, SmtpSink>>,
): Promise<void> {
  const markdown = readFileSync(new URL(`../../../../${PAGE}`, import.meta.url), 'utf8');
  const guide = markdown.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
  const blocks = blocksOf(PAGE, guide).blocks.filter(({ marker }) => marker.kind === 'run');
  const local = blocks.map((block) => ({
    ...block,
    text: Object.entries(relays).reduce(
      (text, [name, { host, port }]) => text.replaceAll(`--host ${name}`, `--host ${host} --port ${port} --tls none`),
      block.text,
    ),
  }));
  const instance = { url: server.url, key, data_dir: '', settings: {}, stop: async () => undefined };
  const outcomes = await runBlocks(local, instance, ['sh']);
  expect(outcomes.length).toBeGreaterThan(2);
  expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
}

async function send(server: ServerProcess, ...to: string[]): Promise<void> {
  expect((await server.call('POST', '/v1/email/send', { body: { ...hello, to } })).status).toBe(202);
}

const recipientsAt = ({ messages }: SmtpSink) => messages.flatMap(({ envelope_to }) => envelope_to);

describe(`a guide of ${PAGE}`, () => {
  it('sends all email through the first relay, and through the second once the first is dead', async () => {
    const [first, second] = [await startRelay('the first password'), await startRelay('the second password')];
    const { server, journey } = await startService();

    await follow('Two relays with a fallback', server, journey.secret, {
      'first.example.com': first,
      'second.example.com': second,
    });
    // The worker follows the rules within five seconds.
    await expect
      .poll(async () => {
        await send(server, 'early@example.com');
        return first.messages.length;
      }, PATIENCE)
      .toBeGreaterThan(0);
    await send(server, 'ada@example.com');
    await first.waitFor(({ envelope_to }) => envelope_to.includes('ada@example.com'));
    await first.stop();
    await send(server, 'grace@example.com');
    await second.waitFor(({ envelope_to }) => envelope_to.includes('grace@example.com'));

    expect(recipientsAt(journey.smtp)).not.toContain('grace@example.com');
  });

  it('sends email to the domains of one provider through a relay, and other email itself', async () => {
    const relay = await startRelay('the password');
    const own = await startSmtpSink({ host: '127.0.0.2' });
    endings.push(() => own.stop());
    const dns = await startDnsZone({
      'example.net': { MX: [{ priority: 10, exchange: 'mx.example.net' }] },
      'hotmail.com': { MX: [{ priority: 10, exchange: 'mx.example.net' }] },
      'mx.example.net': { A: ['127.0.0.2'] },
    });
    endings.push(() => dns.stop());
    const { server, journey } = await startService({
      DELIVERY: 'mx',
      MX_PORT: String(own.port),
      MX_ALLOW_NETWORKS: '127.0.0.0/8',
      DNS_SERVERS: dns.address,
      HELO_NAME: 'mail.good.test',
    });

    await follow('Your own mail server, and a relay for one provider', server, journey.secret, {
      'relay.example.com': relay,
    });
    await expect
      .poll(async () => {
        await send(server, 'early@hotmail.com');
        return relay.messages.length;
      }, PATIENCE)
      .toBeGreaterThan(0);
    await send(server, 'ada@hotmail.com', 'grace@example.net');
    await relay.waitFor(({ envelope_to }) => envelope_to.includes('ada@hotmail.com'));
    await own.waitFor(({ envelope_to }) => envelope_to.includes('grace@example.net'));

    expect(recipientsAt(relay)).not.toContain('grace@example.net');
    expect(recipientsAt(own)).not.toContain('ada@hotmail.com');
  });

  it('sends a customer’s newsletter through the customer’s own relay, and other email by DELIVERY', async () => {
    const relay = await startRelay('the password');
    const { server, journey } = await startService({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });

    await follow("A customer's own relay", server, journey.secret, { 'relay.example.com': relay });
    const newsletter = (to: string) =>
      server.call('POST', '/v1/email/send', { body: { ...hello, to: [to], tags: ['newsletter'] } });
    await expect
      .poll(async () => {
        await newsletter('early@example.com');
        return relay.messages.length;
      }, PATIENCE)
      .toBeGreaterThan(0);
    await newsletter('ada@example.com');
    await send(server, 'grace@example.com');
    await relay.waitFor(({ envelope_to }) => envelope_to.includes('ada@example.com'));
    await journey.smtp.waitFor(({ envelope_to }) => envelope_to.includes('grace@example.com'));

    expect(recipientsAt(relay)).not.toContain('grace@example.com');
  });
});
