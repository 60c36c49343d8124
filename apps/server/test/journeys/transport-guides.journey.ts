import { startDnsZone, startSmtpSink } from '@postrider/testing';
import { describe, expect, it } from 'vitest';
import { hello } from '../journey.ts';
import { endAfterTest, follow, PATIENCE, recipientsAt, send, startRelay, startService } from './guides.ts';

const PAGE = 'docs/transports.md';

describe(`a guide of ${PAGE}`, () => {
  it('sends all email through the first relay, and through the second once the first is dead', async () => {
    const [first, second] = [await startRelay('the first password'), await startRelay('the second password')];
    const service = await startService();
    const { server, journey } = service;

    await follow(service, {
      page: PAGE,
      heading: 'Two relays with a fallback',
      relays: {
        'first.example.com': first,
        'second.example.com': second,
      },
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
    const own = endAfterTest(await startSmtpSink({ host: '127.0.0.2' }));
    const zone = {
      'example.net': { MX: [{ priority: 10, exchange: 'mx.example.net' }] },
      'hotmail.com': { MX: [{ priority: 10, exchange: 'mx.example.net' }] },
      'mx.example.net': { A: ['127.0.0.2'] },
    };
    const dns = endAfterTest(await startDnsZone(zone));
    const service = await startService({
      DELIVERY: 'mx',
      MX_PORT: String(own.port),
      MX_ALLOW_NETWORKS: '127.0.0.0/8',
      DNS_SERVERS: dns.address,
      HELO_NAME: 'mail.good.test',
    });
    const { server } = service;

    await follow(service, {
      page: PAGE,
      heading: 'Your own mail server, and a relay for one provider',
      relays: {
        'relay.example.com': relay,
      },
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
    const service = await startService({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
    const { server, journey } = service;

    await follow(service, {
      page: PAGE,
      heading: "A customer's own relay",
      relays: { 'relay.example.com': relay },
    });
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
