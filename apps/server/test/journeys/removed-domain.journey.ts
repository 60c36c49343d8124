import { type DnsZone, startDnsZone } from '@postrider/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let zone: DnsZone;
let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  zone = await startDnsZone();
  journey = await openJourney({ DNS_SERVERS: zone.address });
  server = await journey.start();
});
afterAll(async () => {
  await journey.stop();
  await zone.stop();
});

it('a domain is added, verified, used for sending and removed, which cancels its pending email', async () => {
  const added = await server.call('POST', '/v1/domains', { body: { name: 'shop.test' } });
  expect(added.status, added.text).toBe(201);
  for (const { type, fqdn, value } of added.body.dns_records as { type: string; fqdn: string; value: string }[]) {
    if (type === 'TXT') zone.set(fqdn, 'TXT', [value]);
  }

  const proven = await server.call('POST', '/v1/domains/shop.test/verify');
  const mail = { from: 'hello@shop.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const sent = await server.call('POST', '/v1/email/send', { body: mail });
  const copy = await journey.smtp.waitFor((one) => one.message_id?.includes(String(sent.body.id)) ?? false);
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
  const second = await server.call('POST', '/v1/email/send', { body: { ...mail, scheduled_at } });
  const removed = await server.call('DELETE', '/v1/domains/shop.test');

  expect(proven.body).toMatchObject({ status: 'verified', can_send: true });
  expect(copy.raw.toString()).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; .* d=shop\.test;/);
  expect([second.status, removed.status]).toEqual([202, 200]);
  await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ canceled: 1, delivered: 1 });
  expect((await server.call('GET', `/v1/email/logs/${second.body.id}`)).body.status).toBe('canceled');
});
