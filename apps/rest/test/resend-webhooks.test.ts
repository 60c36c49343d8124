import { invoke } from '@postrider/core';
import { createSuppressions } from '@postrider/core/suppressions';
import { getWebhookDelivery, listWebhookDeliveries } from '@postrider/core/webhooks';
import { type SinkRequest, startWebhookSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { Resend, type WebhookEventPayload } from 'resend';
import { beforeEach, describe, expect, it } from 'vitest';
import { openResend } from './resend-server.ts';
import { openRest } from './rest-server.ts';

const world = await openWorld();
await world.domain('good.test');
const rest = await openRest(world);
const sink = endAfterTests(await startWebhookSink({ now: world.clock.now }));
const client = new Resend(world.secret, { baseUrl: (await openResend(world)).url });
const hello = { from: 'Shop <hello@good.test>', subject: 'Hello', html: '<p>Hi</p>' };

world.smtp.script(({ to }) =>
  to?.startsWith('gone@') ? { kind: 'reply', code: 550, text: '5.1.1 No such user' } : { kind: 'accept' },
);
beforeEach(async () => {
  await world.services.sql`delete from webhooks`;
});

/** Parses a webhook request with the Resend client, which throws if the signature is wrong. */
function verified({ body, headers }: SinkRequest, webhookSecret: string): WebhookEventPayload {
  return client.webhooks.verify({
    payload: body.toString(),
    headers: {
      id: String(headers['svix-id']),
      timestamp: String(headers['svix-timestamp']),
      signature: String(headers['svix-signature']),
    },
    webhookSecret,
  });
}

async function hooked(path: string, events: Parameters<typeof client.webhooks.create>[0]['events']) {
  const { data, error } = await client.webhooks.create({ endpoint: `${sink.url}${path}`, events });
  expect(error).toBeNull();
  const secret = data?.signing_secret ?? '';
  const posts = () => sink.requests.filter((request) => request.path === path);
  return { id: data?.id ?? '', posts, events: () => posts().map((request) => verified(request, secret)) };
}

describe('a webhook created with the Resend client', () => {
  it('gets payloads, event names and headers in the Resend format, which the client can verify', async () => {
    const hook = await hooked('/mail', ['email.sent', 'email.delivered', 'email.bounced']);

    const { data } = await client.emails.send({
      ...hello,
      to: ['ada@example.com', 'gone@example.com'],
      tags: [{ name: 'kind', value: 'receipt' }],
    });
    await world.drain();
    await world.postWebhooks();

    const mail = {
      email_id: data?.id,
      message_id: `<${data?.id}@good.test>`,
      from: 'Shop <hello@good.test>',
      subject: 'Hello',
      tags: { kind: 'receipt' },
      created_at: expect.any(String),
    };
    const events = hook.events().toSorted((a, b) => (a.type < b.type ? 1 : -1));
    expect(events).toEqual([
      {
        type: 'email.sent',
        created_at: expect.any(String),
        data: { ...mail, to: ['ada@example.com', 'gone@example.com'] },
      },
      { type: 'email.delivered', created_at: expect.any(String), data: { ...mail, to: ['ada@example.com'] } },
      {
        type: 'email.bounced',
        created_at: expect.any(String),
        data: {
          ...mail,
          to: ['gone@example.com'],
          bounce: { message: '550 5.1.1 No such user', type: 'Permanent', subType: 'NoEmail' },
        },
      },
    ]);
    for (const { headers } of hook.posts()) {
      expect(headers['svix-id']).toMatch(/^evt_/);
      expect(headers).not.toHaveProperty('webhook-id');
    }
  });

  it('receives suppression and domain events under their Resend names', async () => {
    const hook = await hooked('/other', ['suppression.added', 'domain.updated']);

    await invoke(world.as(world.workspace_id), createSuppressions, { email: 'eve@example.com' });
    await world.postWebhooks();

    expect(hook.events()).toMatchObject([
      { type: 'suppression.added', data: { email: 'eve@example.com', origin: 'manual', source_id: null } },
    ]);
    const { data } = await client.webhooks.get(hook.id);
    expect(data?.events?.toSorted()).toEqual(['domain.updated', 'suppression.added']);
  });

  it('shows the posted payload in its deliveries', async () => {
    const hook = await hooked('/shown', ['email.sent']);
    await client.emails.send({ ...hello, to: 'ada@example.com' });
    await world.postWebhooks();

    const ctx = world.as(world.workspace_id);
    const [delivery] = (await invoke(ctx, listWebhookDeliveries, { id: hook.id })).data;
    const { request_body } = await invoke(ctx, getWebhookDelivery, { id: hook.id, delivery_id: delivery?.id });

    expect(request_body).toEqual(hook.events()[0]);
  });

  it('is rejected for an event that Postrider does not have', async () => {
    const { error } = await client.webhooks.create({ endpoint: `${sink.url}/x`, events: ['email.opened'] });

    expect(error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(error?.message).toMatch(/^email\.opened does not exist in Postrider/);
  });
});

describe("a webhook's format", () => {
  it('can be chosen over /v1, and is shown and preserved', async () => {
    const url = `${sink.url}/v1`;
    const webhook = await rest.call('POST', '/webhooks', { body: { url, format: 'resend' } });
    const plain = await rest.call('POST', '/webhooks', { body: { url } });

    expect(webhook.body).toMatchObject({ format: 'resend', events: expect.arrayContaining(['email.queued']) });
    expect(webhook.body.events).not.toContain('email.canceled');
    expect(plain.body).toMatchObject({ format: 'postrider', events: 'all' });
  });

  it('determines the event names that the client receives', async () => {
    const body = { url: `${sink.url}/own`, events: ['email.queued', 'domain.failed'] };
    const own = await rest.call('POST', '/webhooks', { body });
    const theirs = await rest.call('POST', '/webhooks', { body: { ...body, format: 'resend' } });

    const responses = await Promise.all([own, theirs].map((webhook) => client.webhooks.get(String(webhook.body.id))));

    expect(responses.map(({ data }) => data?.events)).toEqual([
      ['domain.failed', 'email.queued'],
      ['domain.updated', 'email.sent'],
    ]);
  });

  it('prevents the client from changing an endpoint that uses the Postrider format', async () => {
    const own = await rest.call('POST', '/webhooks', {
      body: { url: `${sink.url}/ours`, events: ['email.delivered'] },
    });
    const id = String(own.body.id);

    const { error } = await client.webhooks.update(id, { endpoint: `${sink.url}/theirs`, events: ['email.sent'] });

    expect(error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(error?.message).toContain(`${id} uses the postrider format`);
    expect((await rest.call('GET', `/webhooks/${id}`)).body).toMatchObject({
      url: `${sink.url}/ours`,
      events: ['email.delivered'],
    });
  });

  it('rejects event types without a Resend name when they are added, changed or tested', async () => {
    const webhook = await rest.call('POST', '/webhooks', { body: { url: `${sink.url}/strict`, format: 'resend' } });
    const path = `/webhooks/${webhook.body.id}`;

    const responses = await Promise.all([
      rest.call('POST', '/webhooks', { body: { url: `${sink.url}/no`, format: 'resend', events: ['email.canceled'] } }),
      rest.call('PATCH', path, { body: { events: ['quota.warning'] } }),
      rest.call('POST', `${path}/test`, { body: { type: 'webhook.disabled' } }),
    ]);

    for (const { status, body } of responses) {
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: { details: [{ message: expect.stringContaining('does not exist in the resend format') }] },
      });
    }
  });

  it('also applies to test events', async () => {
    const webhook = await rest.call('POST', '/webhooks', { body: { url: `${sink.url}/test`, format: 'resend' } });

    await rest.call('POST', `/webhooks/${webhook.body.id}/test`, { body: { type: 'email.failed' } });
    await world.postWebhooks();

    const [post] = sink.requests.filter(({ path }) => path === '/test');
    expect(post && verified(post, String(webhook.body.secret))).toMatchObject({
      type: 'email.failed',
      data: { test: true, email_id: expect.stringMatching(/^msg_/), failed: { reason: '451 4.7.1 Try again later' } },
    });
  });

  it('limits a large event to less than 20 kB', async () => {
    const hook = await hooked('/large', ['email.sent']);
    const to = Array.from({ length: 50 }, (_, index) => {
      const labels = ['a', 'b', 'c'].map((letter) => letter.repeat(60)).join('.');
      return `${'x'.repeat(40)}${index}@${labels}.example.com`;
    });
    const { error } = await client.emails.send({ ...hello, to, subject: '\u{1F600}'.repeat(2400), text: 'Hi' });
    expect(error).toBeNull();
    await world.postWebhooks();

    const [post] = hook.posts();
    expect(post?.body.length).toBeLessThan(20_000);
    expect(hook.events()).toMatchObject([{ type: 'email.sent' }]);
  });
});
