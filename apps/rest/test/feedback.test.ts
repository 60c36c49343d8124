import http, { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { forgetFeedback, getFeedback, matchFeedback, removeFeedback, setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { listSuppressions } from '@postrider/core/suppressions';
import { createTransport, deleteTransport, setTransportRules } from '@postrider/core/transports';
import { createFeedbackHandler } from '@postrider/rest';
import { startSmtpSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const MINUTE_MS = 60_000;
const PATIENCE = { timeout: 20_000, interval: 20 };

const world = await openWorld({ DELIVERY: 'smtp://127.0.0.1:2525', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
await world.domain('shop.example');
const other = await world.workspace('business');
await world.domain('other.example', other.workspace_id);
const relay = endAfterTests(await startSmtpSink());
const handler = createFeedbackHandler(world.services);
const server = createServer((request, response) => void handler(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => server.close(resolve)));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const operator = () => world.as(world.workspace_id);

interface Route {
  readonly transport_id: string;
  readonly path: string;
  readonly secret: string;
}

/** Creates a relay with feedback for all email of a tag. */
async function relayWithFeedback(name: string, provider = 'generic', theirs?: string): Promise<Route> {
  const { id } = await invoke(operator(), createTransport, {
    ...{ name, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' },
  });
  const feedback = { transport_id: id, provider, secret: theirs };
  const { url, secret } = await invoke(operator(), setFeedback, feedback);
  return { transport_id: id, path: new URL(url).pathname, secret: secret ?? theirs ?? '' };
}

let serial = 0;
let first: Route;
let second: Route;
beforeEach(async () => {
  await invoke(operator(), setTransportRules, { rules: [] });
  for (const route of [first, second])
    if (route) await invoke(operator(), deleteTransport, { transport_id: route.transport_id });
  first = await relayWithFeedback('First');
  second = await relayWithFeedback('Second');
  await invoke(operator(), setTransportRules, {
    rules: [{ tag: 'second', transports: [second.transport_id] }, { transports: [first.transport_id] }],
  });
});

interface SentEmail {
  readonly id: string;
  readonly to: string;
  /** What the relay was told with the email. */
  readonly reference: string;
}

async function send(fields: object = {}, ctx = operator()): Promise<SentEmail> {
  const to = `ada-${serial++}@example.com`;
  const email = { from: 'hello@shop.example', to, subject: 'Hello', text: 'It works.', ...fields };
  const { id } = await invoke(ctx, sendMessage, email);
  await world.drain();
  const message = await relay.waitFor(({ envelope_to }) => envelope_to.includes(to));
  const reference = /^X-Postrider-Ref: (\S+)\r\n/.exec(message.raw.toString('latin1'))?.[1] ?? '';
  return { id, to, reference };
}

interface PostOptions {
  readonly id?: string;
  readonly secret?: string;
  readonly age_ms?: number;
}

async function post({ path, secret }: Route, body: unknown, options: PostOptions = {}) {
  const id = options.id ?? `evt_${serial++}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  // The library compares with the time of the machine.
  const at = new Date(Date.now() - (options.age_ms ?? 0));
  const response = await fetch(origin + path, {
    method: 'POST',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(options.secret ?? secret).sign(id, at, text),
    },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const statusOf = async ({ id }: SentEmail) => (await invoke(operator(), getMessage, { id })).status;
const eventsOf = async ({ transport_id }: Route) =>
  (await invoke(operator(), getFeedback, { transport_id }))?.events.map(({ kind, state, detail }) => [
    kind,
    state,
    detail,
  ]);
const bounce = { type: 'bounced', status: '5.1.1', diagnostic: '550 5.1.1 no such user' };

/** Sends the head of a request with a Content-Length, and returns the status of the response. */
function declared({ path }: Route, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(origin + path, { method: 'POST', headers: { 'content-length': bytes } });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
      request.destroy();
    });
    request.on('error', reject);
    request.flushHeaders();
  });
}

describe('a relay with feedback', () => {
  it('is told a reference of at most 80 characters, before the signed bytes', async () => {
    const email = await send();
    const [message] = relay.messages.slice(-1);

    expect(email.reference).toMatch(/^[0-9a-z]{42}\.[0-9a-f]{20}$/);
    expect(await world.signatures({ raw: message?.raw ?? Buffer.of() })).toEqual(['pass rsa-sha256 shop.example']);
  });

  it('reports a bounce, which is recorded once and suppresses the address', async () => {
    const email = await send();

    const event = { ...bounce, ref: email.reference, recipient: email.to };
    expect(await post(first, event, { id: 'evt_repeated' })).toMatchObject({ status: 200, body: { events: 1 } });
    await expect.poll(() => statusOf(email), PATIENCE).toBe('bounced');
    await post(first, event, { id: 'evt_repeated' });
    await post(first, event);
    await expect.poll(() => eventsOf(first), PATIENCE).toHaveLength(2);
    const matchesOf = async ({ transport_id }: Route) =>
      (await invoke(operator(), getFeedback, { transport_id }))?.events.map(({ email_id, recipient }) => [
        email_id,
        recipient,
      ]);
    await expect.poll(() => matchesOf(first), PATIENCE).toEqual(Array(2).fill([email.id, null]));

    const page = await invoke(operator(), listEvents, { type: 'email.bounced', limit: 100 });
    expect(page.data.filter(({ email_id }) => email_id === email.id)).toHaveLength(1);
    const { data } = await invoke(operator(), listSuppressions, { limit: 100 });
    expect(data.filter(({ email: address }) => address === email.to)).toMatchObject([{ source: 'bounce' }]);
  });

  it('reports complaints, delays and deliveries, several in one post', async () => {
    const [angry, late, fine] = [await send(), await send(), await send()];

    const { body } = await post(first, [
      { type: 'complained', ref: angry.reference },
      { type: 'delayed', ref: late.reference, diagnostic: '451 try later' },
      { type: 'delivered', ref: fine.reference },
      { type: 'opened' },
    ]);

    expect(body).toMatchObject({ events: 3, unread: 1 });
    await expect.poll(() => statusOf(angry), PATIENCE).toBe('complained');
    await expect
      .poll(async () => (await eventsOf(first))?.map(([kind, state]) => `${kind} ${state}`).toSorted(), PATIENCE)
      .toEqual(['complained recorded', 'delayed recorded', 'delivered recorded']);
    expect([await statusOf(late), await statusOf(fine)]).toEqual(['delivered', 'delivered']);
    const recipientOf = async ({ id }: SentEmail) => (await invoke(operator(), getMessage, { id })).recipients[0];
    expect(await recipientOf(fine)).toMatchObject({ relayed: true, confirmed_at: expect.any(String) });
    expect(await recipientOf(late)).toMatchObject({ relayed: true, confirmed_at: null });
  });

  it('cannot be read, and is counted, if it is not JSON or names no email', async () => {
    expect(await post(first, 'not JSON')).toMatchObject({ status: 200, body: { events: 0, unread: 1 } });
    expect(await post(first, { type: 'bounced', recipient: 'ada@example.com' })).toMatchObject({
      status: 200,
      body: { events: 0, unread: 1 },
    });
  });

  it('is matched by Message-ID and recipient without a reference', async () => {
    const email = await send();

    await post(first, { ...bounce, message_id: `<${email.id}@shop.example>`, recipient: email.to.toUpperCase() });

    await expect.poll(() => statusOf(email), PATIENCE).toBe('bounced');
  });
});

describe('a report of one transport', () => {
  it('changes no email of another transport or workspace, by reference or Message-ID', async () => {
    const theirs = await send({ tags: ['second'] });
    const foreign = await send({ from: 'hello@other.example', tags: ['second'] }, world.as(other.workspace_id));

    for (const { reference, id, to } of [theirs, foreign]) {
      await post(first, { ...bounce, ref: reference });
      await post(first, { ...bounce, message_id: `${id}@shop.example`, recipient: to });
    }
    await expect.poll(() => eventsOf(first), PATIENCE).toHaveLength(4);
    // The last request may still be matching, and then makes its event due again later than now.
    await expect
      .poll(async () => {
        await world.clock.advance(16 * MINUTE_MS);
        await matchFeedback(world.services);
        return (await eventsOf(first))?.map(([, state]) => state);
      }, PATIENCE)
      .toEqual(Array(4).fill('unmatched'));
    expect(await statusOf(theirs)).toBe('delivered');
    expect((await invoke(world.as(other.workspace_id), getMessage, { id: foreign.id })).status).toBe('delivered');
  });

  it('changes nothing if the address is not that of the recipient', async () => {
    const email = await send();
    await post(first, { ...bounce, ref: email.reference, recipient: 'eve@example.com' });
    await expect.poll(() => eventsOf(first), PATIENCE).toMatchObject([['bounced', 'pending', expect.any(String)]]);
    expect(await statusOf(email)).toBe('delivered');
  });

  it('is kept and matched again if it comes before our record', async () => {
    const email = await send();
    const { sql } = world.services;
    await sql`update recipients set state = 'sending', lease = gen_random_uuid(), lease_until = clock_now() + interval '1 minute' where email = ${email.to}`;
    await post(first, { ...bounce, ref: email.reference });
    await expect.poll(() => eventsOf(first), PATIENCE).toEqual([['bounced', 'pending', 'The email is being sent.']]);
    await sql`update recipients set state = 'delivered', lease = null, lease_until = null where email = ${email.to}`;

    await world.clock.advance(MINUTE_MS);
    await expect
      .poll(async () => {
        await matchFeedback(world.services);
        return statusOf(email);
      }, PATIENCE)
      .toBe('bounced');
  });
});

it('keeps the newest reports of a transport up to a number, and pending ones', async () => {
  const { sql } = world.services;
  await sql`
    insert into feedback_events (transport_id, event_id, kind, state, facts, received_at, due_at)
    select t.id, 'x' || n, 'bounced', case when n = 1 then 'pending' else 'unmatched' end, '{}',
      clock_now() - make_interval(mins => 20 - n), clock_now() + interval '1 hour'
    from generate_series(1, 10) as n
    cross join unnest(${[first.transport_id, second.transport_id]}::uuid[]) as t (id)
    where t.id = ${first.transport_id} or n > 7`;

  await sql.begin((tx) => forgetFeedback(tx, 30, 5));

  const idsOf = async ({ transport_id }: Route) =>
    (await invoke(operator(), getFeedback, { transport_id }))?.events.map(({ event_id }) => event_id);
  expect(await idsOf(first)).toEqual(['x10', 'x9', 'x8', 'x7', 'x6', 'x1']);
  expect(await idsOf(second)).toEqual(['x10', 'x9', 'x8']);
});

describe('a post', () => {
  it.each([
    ['with another secret', { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }],
    ['that is six minutes old', { age_ms: 6 * MINUTE_MS }],
  ])('is rejected %s, and the transport says why', async (_, options) => {
    const email = await send();

    const { status, body } = await post(first, { ...bounce, ref: email.reference }, options);

    expect([status, (body.error as { reason?: string })?.reason ?? body.reason]).toEqual([401, 'invalid_signature']);
    const feedback = await invoke(operator(), getFeedback, { transport_id: first.transport_id });
    expect(feedback).toMatchObject({ confirmed_at: null, rejection: expect.any(String), events: [] });
    expect(await statusOf(email)).toBe('delivered');
  });

  it('is rejected without a transport, and when it is too large', async () => {
    expect((await post({ ...first, path: '/feedback/AAAAAAAAAAAAAAAAAAAAAA' }, bounce)).status).toBe(401);
    expect((await post(first, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect((await post(first, `[${'0,'.repeat(60_000)}0]`)).status).toBe(413);
    expect((await fetch(`${origin}${first.path}`)).status).toBe(404);
    expect(await declared(first, 10_000_000_000)).toBe(413);
  });

  it('is accepted at the previous address and with the previous secret for a day', async () => {
    const email = await send();
    const { transport_id } = first;
    await invoke(operator(), setFeedback, { transport_id, provider: 'generic' });

    expect((await post(first, { type: 'delivered', ref: email.reference })).status).toBe(200);
    await world.clock.advance(25 * 60 * MINUTE_MS);
    expect((await post(first, { type: 'delivered', ref: email.reference })).status).toBe(401);
    await invoke(operator(), removeFeedback, { transport_id });
    expect(await invoke(operator(), getFeedback, { transport_id })).toBeNull();
  });

  it('gets 429 if eight slow ones of its transport are being read, while another transport is served', async () => {
    const slow: http.ClientRequest[] = [];
    // One by one, because a probe takes a place too while it is read.
    await expect
      .poll(async () => {
        const request = http.request(origin + first.path, { method: 'POST', headers: { 'content-length': 1000 } });
        request.on('error', () => undefined);
        request.flushHeaders();
        slow.push(request);
        return (await post(first, { ...bounce, ref: 'none' })).status;
      }, PATIENCE)
      .toBe(429);
    expect(slow.length).toBeGreaterThanOrEqual(8);

    expect((await post(second, { ...bounce, ref: 'none' })).status).toBe(200);
    for (const request of slow) request.destroy();
    await expect.poll(async () => (await post(first, { ...bounce, ref: 'none' })).status, PATIENCE).toBe(200);
  });

  it('stores at most 1,000 characters of each field', async () => {
    await post(first, { ...bounce, ref: 'none', diagnostic: 'x'.repeat(1000) }, { id: `evt_${'y'.repeat(900)}` });
    await expect.poll(() => eventsOf(first), PATIENCE).toHaveLength(1);
    const feedback = await invoke(operator(), getFeedback, { transport_id: first.transport_id });
    expect(feedback?.events[0]?.event_id).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gets 429 if its transport posts too often, while another transport is served', async () => {
    await world.clock.freeze(new Date(Date.now()));
    const flood: Awaited<ReturnType<typeof post>>[] = [];
    for (let group = 0; group < 10; group++)
      flood.push(...(await Promise.all(Array.from({ length: 8 }, () => post(first, { ...bounce, ref: 'none' })))));
    const calm = await post(second, { ...bounce, ref: 'none' });

    expect(Map.groupBy(flood, ({ status }) => status).get(429)).toHaveLength(30);
    expect(calm.status).toBe(200);
  });

  it('gets 429 if too many events of its transport wait, while another transport is served', async () => {
    const { sql } = world.services;
    await sql`
      insert into feedback_events (transport_id, event_id, kind, state, facts, received_at, due_at)
      select ${first.transport_id}, 'x' || n, 'bounced', 'pending', '{}', clock_now(), clock_now() + interval '1 hour'
      from generate_series(1, 10000) as n`;
    const email = await send({ tags: ['second'] });

    expect((await post(first, { ...bounce, ref: email.reference })).status).toBe(429);
    expect((await post(second, { ...bounce, ref: email.reference })).status).toBe(200);
    await expect.poll(() => statusOf(email), PATIENCE).toBe('bounced');
  });
});
