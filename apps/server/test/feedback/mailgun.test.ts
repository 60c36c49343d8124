import { createHmac } from 'node:crypto';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { getFeedback, setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { describe, expect, it } from 'vitest';
import { openStage } from './stage.ts';
import { type Report, stubs } from './stubs.ts';

const stage = await openStage();
const { world, relay, deliver } = stage;
const operator = () => world.as(world.workspace_id);
const KEY = 'a signing key';

let serial = 0;
async function setUp() {
  const name = `Mailgun ${serial++}`;
  const relay_transport = { name, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' };
  const { id: transport_id } = await invoke(operator(), createTransport, relay_transport);
  const { url } = await invoke(operator(), setFeedback, { transport_id, provider: 'mailgun', secret: KEY });
  const feedbackOf = () => invoke(operator(), getFeedback, { transport_id });
  return { transport_id, path: new URL(url).pathname, feedbackOf };
}

function post({ id = 'token', ...fields }: Partial<Report>) {
  const report = { kind: 'bounced', recipient: 'ada@example.com', message_id: '', reference: '', ...fields } as const;
  const request = stubs.mailgun?.post({ ...report, id }, KEY);
  if (!request) throw new Error('no stub of Mailgun');
  return request;
}

/** Signs the same token once more, as of another second. */
function signedLater(request: ReturnType<typeof post>, id: string) {
  const timestamp = String(Math.floor(Date.now() / 1000) - 60);
  const signature = createHmac('sha256', KEY)
    .update(timestamp + id)
    .digest('hex');
  const body = { ...JSON.parse(request.body), signature: { timestamp, token: id, signature } };
  return { ...request, body: JSON.stringify(body) };
}

describe('a token of Mailgun', () => {
  it('gets 200 again with the same event, and 401 with another one', async () => {
    const { path, feedbackOf } = await setUp();
    const request = post({});

    expect(await deliver(path, request)).toBe(200);
    expect(await deliver(path, request)).toBe(200);
    expect(await deliver(path, signedLater(request, 'token'))).toBe(200);
    expect(await feedbackOf()).toMatchObject({ rejection: null });
    expect(await deliver(path, post({ kind: 'complained' }))).toBe(401);
    expect(await deliver(path, post({ recipient: 'bob@example.com' }))).toBe(401);
    expect(await deliver(path, post({ id: 'other', recipient: 'bob@example.com' }))).toBe(200);

    const feedback = await feedbackOf();
    expect(feedback?.rejection).toBe('It was used for another event.');
    expect(feedback?.events.map(({ event_id, kind }) => [event_id, kind]).sort()).toEqual([
      ['other', 'bounced'],
      ['token', 'bounced'],
    ]);
    const counter = world.services.metrics.read().find(({ name }) => name === 'feedback_posts_total');
    expect(counter?.points).toContainEqual({ labels: ['rejected'], value: 2 });
  });

  it('stays bound to its event after the match, which clears what the event said', async () => {
    const { transport_id, path, feedbackOf } = await setUp();
    await invoke(operator(), setTransportRules, { rules: [{ transports: [transport_id] }] });
    const to = 'matched@example.com';
    const email = { from: 'hello@shop.example', to, subject: 'Hello', text: 'Hi' };
    const { id } = await invoke(operator(), sendMessage, email);
    await world.drain();
    const { raw } = await relay.waitFor(({ envelope_to }) => envelope_to.includes(to));
    const reference = stubs.mailgun?.referenceIn?.(raw.toString('latin1')) ?? '';
    const report = { id: 'matched', recipient: to, reference };

    expect(await deliver(path, post(report))).toBe(200);
    await expect.poll(feedbackOf).toMatchObject({ events: [{ state: 'recorded', email_id: id, recipient: null }] });

    expect(await deliver(path, post(report))).toBe(200);
    expect(await deliver(path, post({ ...report, kind: 'complained' }))).toBe(401);
    expect(await invoke(operator(), getMessage, { id })).toMatchObject({ status: 'bounced' });
    expect(await feedbackOf()).toMatchObject({ events: [{ event_id: 'matched', state: 'recorded' }] });
  });

  it('proves one of two events that arrive at the same moment', async () => {
    const { path, feedbackOf } = await setUp();

    for (let round = 0; round < 20; round++) {
      const requests = (['bounced', 'complained'] as const).map((kind) => post({ id: `round-${round}`, kind }));
      const statuses = await Promise.all(requests.map((request) => deliver(path, request)));
      expect(statuses.toSorted()).toEqual([200, 401]);
    }

    const events = (await feedbackOf())?.events.map(({ event_id }) => event_id) ?? [];
    expect(new Set(events).size).toBe(20);
  });

  it('proves one event that arrives twice at the same moment', async () => {
    const { path, feedbackOf } = await setUp();

    const statuses = await Promise.all(Array.from({ length: 5 }, () => deliver(path, post({}))));

    expect(statuses).toEqual(Array(5).fill(200));
    expect((await feedbackOf())?.events).toHaveLength(1);
  });
});
