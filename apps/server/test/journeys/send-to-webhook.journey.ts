import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const PAST_EVERY_LEASE_MS = 60_000;

let journey: Journey;
let sink: WebhookSink;
beforeEach(async () => {
  journey = await openJourney({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  sink = await startWebhookSink();
});
afterEach(async () => {
  await journey.stop();
  await sink.stop();
});

async function listen(server: ServerProcess, events: unknown = 'all'): Promise<{ id: string; secret: string }> {
  const webhook = await server.call('POST', '/v1/webhooks', { body: { url: `${sink.url}/hook`, events } });
  expect(webhook.status, webhook.text).toBe(201);
  return { id: String(webhook.body.id), secret: String(webhook.body.secret) };
}

describe('an email with webhook events', () => {
  it('travels from HTTP to the recipient, and its events reach the endpoint', async () => {
    const server = await journey.start();
    const { id, secret } = await listen(server);

    const sent = await server.call('POST', '/v1/email/send', { body: { ...hello, metadata: { order: '1815' } } });

    const requests = await sink.waitFor(2);
    const events = requests
      .map(({ body, headers }) => new Webhook(secret).verify(body.toString(), headers as Record<string, string>))
      .sort((a, b) => (a as { sequence: number }).sequence - (b as { sequence: number }).sequence);
    expect(events).toMatchObject([
      { type: 'email.queued', sequence: 1, data: { email: { id: sent.body.id, metadata: { order: '1815' } } } },
      { type: 'email.delivered', sequence: 2, data: { recipient: { email: hello.to, status: 'delivered' } } },
    ]);
    const listed = await server.call('GET', `/v1/events?email_id=${sent.body.id}`);
    expect(listed.body.data).toEqual([events[1], events[0]]);
    await expect
      .poll(async () => (await server.call('GET', `/v1/webhooks/${id}/deliveries?status=delivered`)).body.data)
      .toHaveLength(2);
    expect(await server.end()).toEqual({ code: 0, signal: null });
    expect(server.stdout() + server.stderr()).not.toContain(secret);
  });

  it('has its event posted again under the same id if the worker dies before recording the post', async () => {
    const api = await journey.start({ ROLES: 'rest' });
    const { id } = await listen(api, ['email.queued']);
    const first = await journey.start({ ROLES: 'worker' });
    const released = Promise.withResolvers<void>();
    sink.script(() => ({ kind: 'stall', until: released.promise }));
    await api.call('POST', '/v1/email/send', { body: hello });
    const [before] = await sink.waitFor(1);

    expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    released.resolve();
    sink.script(() => ({ kind: 'reply', status: 200 }));
    await journey.start({ ROLES: 'worker' });
    await journey.clock.advance(PAST_EVERY_LEASE_MS);

    const [, retry] = await sink.waitFor(2);
    expect(retry?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
    expect(retry?.body).toEqual(before?.body);
    await expect
      .poll(async () => (await api.call('GET', `/v1/webhooks/${id}/deliveries`)).body.data)
      .toMatchObject([{ status: 'delivered', attempts: 2, event_id: before?.headers['webhook-id'] }]);
  });

  it('has its events recovered for a time range after an endpoint outage', async () => {
    const server = await journey.start();
    const { id } = await listen(server, ['email.queued']);
    sink.script(() => ({ kind: 'reply', status: 410 }));
    await server.call('POST', '/v1/email/send', { body: hello });
    await sink.waitFor(1);
    await expect
      .poll(async () => (await server.call('GET', `/v1/webhooks/${id}`)).body)
      .toMatchObject({ status: 'disabled', status_reason: 'gone' });
    await server.call('POST', '/v1/email/send', { body: hello });
    sink.script(() => ({ kind: 'reply', status: 200 }));

    await server.call('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    await server.call('POST', `/v1/webhooks/${id}/recover`, { body: { since: '2020-01-01T00:00:00Z' } });

    const [missed, ...recovered] = await sink.waitFor(3);
    expect(recovered.map(({ headers }) => headers['webhook-id'])).toContain(missed?.headers['webhook-id']);
    expect(new Set(recovered.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });
});
