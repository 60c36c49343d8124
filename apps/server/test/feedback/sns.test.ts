import { generateKeyPairSync } from 'node:crypto';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { getFeedback, setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { describe, expect, it } from 'vitest';
import { openStage } from './stage.ts';
import { json, SNS_HOST, sesNotification, snsPost, snsSubscription, TOPIC } from './stubs.ts';

const { world, relay, sns_requests, deliver } = await openStage();
const operator = () => world.as(world.workspace_id);

let serial = 0;
/** Creates a relay with feedback through the topic. */
async function setUp() {
  const relay_transport = { name: `SES ${serial++}`, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' };
  const { id: transport_id } = await invoke(operator(), createTransport, relay_transport);
  const feedback = await invoke(operator(), setFeedback, { transport_id, provider: 'ses', secret: TOPIC });
  return { transport_id, path: new URL(feedback.url).pathname };
}

describe('a topic of SNS', () => {
  it('is confirmed at its own host, once its request has been verified', async () => {
    const { transport_id, path } = await setUp();
    sns_requests.length = 0;

    expect(await deliver(path, snsPost(snsSubscription, { version: '2' }))).toBe(200);

    expect(sns_requests).toEqual([
      '/SimpleNotificationService-0123.pem',
      `/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`,
    ]);
    expect(await invoke(operator(), getFeedback, { transport_id })).toMatchObject({
      confirmed_at: expect.any(String),
      rejection: null,
    });
  });

  it.each([
    [
      'at another host',
      { ...snsSubscription, SubscribeURL: snsSubscription.SubscribeURL.replace(SNS_HOST, 'sns.example.com') },
    ],
    [
      'with another action',
      { ...snsSubscription, SubscribeURL: snsSubscription.SubscribeURL.replace('Confirm', 'Un') },
    ],
    ['of the end of a subscription', { ...snsSubscription, Type: 'UnsubscribeConfirmation' }],
  ])('is not confirmed %s', async (_, message) => {
    const { path } = await setUp();
    sns_requests.length = 0;

    await deliver(path, snsPost(message));

    expect(sns_requests).toEqual(['/SimpleNotificationService-0123.pem']);
  });

  const bounce = { MessageId: 'bounce', Message: sesNotification({ kind: 'bounced', recipient: 'a@example.com' }) };
  const { privateKey: other_key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  it.each([
    ['another topic', snsPost({ ...bounce, TopicArn: `${TOPIC}-2` })],
    ['another key', snsPost(bounce, { key: other_key.export({ format: 'pem', type: 'pkcs8' }).toString() })],
    ['a certificate elsewhere', snsPost(bounce, { host: 'sns.eu-central-1.amazonaws.com.example.com' })],
    ['a certificate at another service', snsPost(bounce, { host: 's3.eu-central-1.amazonaws.com' })],
    ['a certificate at another port', snsPost(bounce, { host: `${SNS_HOST}:8443` })],
    ['an old timestamp', snsPost({ ...bounce, Timestamp: new Date(Date.now() - 26 * 3_600_000).toISOString() })],
    ['an unknown version', snsPost(bounce, { version: '3' })],
    ['raw message delivery', { headers: json, body: bounce.Message }],
  ])('cannot report with %s', async (_, request) => {
    const { transport_id, path } = await setUp();

    expect(await deliver(path, request)).toBe(401);

    expect(await invoke(operator(), getFeedback, { transport_id })).toMatchObject({
      confirmed_at: null,
      rejection: expect.any(String),
      events: [],
    });
  });

  it('gets no 200 if its certificate cannot be fetched, and retries', async () => {
    const { transport_id, path } = await setUp();
    world.dns.remove(SNS_HOST);
    expect(await deliver(path, snsPost(bounce))).toBe(500);
    world.dns.set(SNS_HOST, 'A', ['127.0.0.1']);

    expect(await deliver(path, snsPost(bounce))).toBe(200);

    expect(await invoke(operator(), getFeedback, { transport_id })).toMatchObject({
      events: [{ event_id: 'bounce a@example.com', kind: 'bounced', state: 'pending' }],
    });
  });
});

describe('the ID that SES gave an email', () => {
  it('is known to its own transport only', async () => {
    const [own, other] = [await setUp(), await setUp()];
    await invoke(operator(), setTransportRules, { rules: [{ transports: [own.transport_id] }] });
    const to = 'relayed@example.com';
    const email = { from: 'a@shop.example', to, subject: 'Hi', text: 'Hi' };
    const { id } = await invoke(operator(), sendMessage, email);
    await world.drain();
    const report = { MessageId: 'by-id', Message: sesNotification({ kind: 'bounced', recipient: to }) };
    const eventsOf = async ({ transport_id }: { readonly transport_id: string }) =>
      (await invoke(operator(), getFeedback, { transport_id }))?.events.map(({ state, email_id }) => [state, email_id]);

    expect(await deliver(other.path, snsPost(report))).toBe(200);
    await expect
      .poll(
        async () => (await invoke(operator(), getFeedback, { transport_id: other.transport_id }))?.events[0]?.detail,
      )
      .toMatch(/names no email of this transport/);
    expect((await invoke(operator(), getMessage, { id })).status).toBe('delivered');

    expect(await deliver(own.path, snsPost(report))).toBe(200);
    await expect.poll(() => eventsOf(own)).toEqual([['recorded', id]]);
    expect(await eventsOf(other)).toEqual([['pending', null]]);
    expect((await invoke(operator(), getMessage, { id })).status).toBe('bounced');
  });
});
