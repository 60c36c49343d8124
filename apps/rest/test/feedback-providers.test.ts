import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { listSuppressions } from '@postrider/core/suppressions';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { createFeedbackHandler } from '@postrider/rest';
import { startSmtpSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';

// Stubs that report in the documented form of each provider; none of them was tried live.

const EMAILS = 60;
const BOUNCED = 6;
const COMPLAINED = 3;
const DELAYED = 2;
const PATIENCE = { timeout: 30_000, interval: 50 };

const world = await openWorld({ DELIVERY: 'smtp://127.0.0.1:2525' });
await world.domain('shop.example');
const relay = endAfterTests(await startSmtpSink());
const handler = createFeedbackHandler(world.services);
const server = createServer((request, response) => void handler(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => server.close(resolve)));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const operator = () => world.as(world.workspace_id);

interface Report {
  readonly kind: 'bounced' | 'complained' | 'delayed' | 'delivered';
  readonly id: string;
  readonly recipient: string;
  readonly message_id: string;
  readonly reference: string;
}

interface Post {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** How a provider reports, as a stub. */
interface Stub {
  /** The secret that the provider shows; undefined: it uses ours. */
  readonly secret?: string;
  /** Reads our reference from the header that the provider takes. */
  referenceIn(email: string): string | undefined;
  post(report: Report, secret: string): Post;
}

const now = () => String(Math.floor(Date.now() / 1000));
const json = { 'content-type': 'application/json' };
const DIAGNOSTIC = '550 5.1.1 no such user';
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const headerIn = (email: string, name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(email)?.[1];
const basic = (secret: string) => `Basic ${Buffer.from(`postrider:${secret}`).toString('base64')}`;

function standard(prefix: string, secret: string, id: string, body: string): Post {
  const at = new Date(Date.now());
  return {
    headers: {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
      [`${prefix}-signature`]: new Webhook(secret).sign(id, at, body),
    },
    body,
  };
}

const stubs: Readonly<Record<string, Stub>> = {
  generic: {
    referenceIn: (email) => headerIn(email, 'X-Postrider-Ref'),
    post: ({ kind, id, reference }, secret) =>
      standard('webhook', secret, id, JSON.stringify({ type: kind, ref: reference, diagnostic: DIAGNOSTIC })),
  },
  postmark: {
    referenceIn: (email) => headerIn(email, 'X-PM-Metadata-postrider'),
    post({ kind, id, recipient, reference }, secret) {
      const Metadata = { postrider: reference };
      const entry = {
        bounced: { RecordType: 'Bounce', Type: 'HardBounce', ID: id, Email: recipient, Details: DIAGNOSTIC, Metadata },
        delayed: { RecordType: 'Bounce', Type: 'Transient', ID: id, Email: recipient, Details: '451 later', Metadata },
        complained: { RecordType: 'SpamComplaint', Type: 'SpamComplaint', ID: id, Email: recipient, Metadata },
        delivered: { RecordType: 'Delivery', MessageID: id, Recipient: recipient, Metadata },
      }[kind];
      return { headers: { ...json, authorization: basic(secret) }, body: JSON.stringify(entry) };
    },
  },
  sendgrid: {
    secret: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    referenceIn: (email) => JSON.parse(headerIn(email, 'X-SMTPAPI') ?? '{}').unique_args?.postrider,
    post({ kind, id, recipient, reference }) {
      const event = { bounced: 'bounce', complained: 'spamreport', delayed: 'deferred', delivered: 'delivered' }[kind];
      const entry = { event, email: recipient, sg_event_id: id, reason: DIAGNOSTIC, postrider: reference };
      const body = JSON.stringify([entry, { event: 'open', email: recipient, sg_event_id: `${id}-open` }]);
      const timestamp = now();
      const signature = sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64');
      const prefix = 'x-twilio-email-event-webhook';
      return { headers: { ...json, [`${prefix}-signature`]: signature, [`${prefix}-timestamp`]: timestamp }, body };
    },
  },
  mailgun: {
    secret: 'a signing key',
    referenceIn: (email) => JSON.parse(headerIn(email, 'X-Mailgun-Variables') ?? '{}').postrider,
    post({ kind, id, recipient, reference }, secret) {
      const timestamp = now();
      const signature = createHmac('sha256', secret)
        .update(timestamp + id)
        .digest('hex');
      const data = {
        id,
        ...(kind === 'bounced' && { event: 'failed', severity: 'permanent' }),
        ...(kind === 'delayed' && { event: 'failed', severity: 'temporary' }),
        ...((kind === 'complained' || kind === 'delivered') && { event: kind }),
        recipient,
        'delivery-status': { code: 550, message: '5.1.1 no such user' },
        'user-variables': { postrider: reference },
      };
      const body = JSON.stringify({ signature: { timestamp, token: id, signature }, 'event-data': data });
      return { headers: json, body };
    },
  },
  resend: {
    secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    referenceIn: (email) => headerIn(email, 'X-Postrider-Ref'),
    post({ kind, id, recipient, reference }, secret) {
      const type = kind === 'delayed' ? 'email.delivery_delayed' : `email.${kind}`;
      const headers = [{ name: 'X-Postrider-Ref', value: reference }];
      const bounce = kind === 'bounced' ? { message: DIAGNOSTIC, type: 'Permanent' } : undefined;
      const body = JSON.stringify({ type, created_at: now(), data: { to: [recipient], headers, bounce } });
      return standard('svix', secret, id, body);
    },
  },
  brevo: {
    referenceIn: (email) => headerIn(email, 'X-Mailin-custom'),
    post({ kind, recipient, message_id, reference }, secret) {
      const event = { bounced: 'hard_bounce', complained: 'spam', delayed: 'deferred', delivered: 'delivered' }[kind];
      const entry = {
        event,
        email: recipient,
        'message-id': `<${message_id}>`,
        ts_epoch: 1_800_000_000,
        reason: DIAGNOSTIC,
        'X-Mailin-custom': reference,
      };
      return { headers: { ...json, authorization: `Bearer ${secret}` }, body: JSON.stringify(entry) };
    },
  },
};

let seed = 11;
function shuffled<T>(items: readonly T[]): T[] {
  const copy = [...items];
  for (let at = copy.length - 1; at > 0; at--) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (at + 1);
    [copy[at], copy[other]] = [copy[other] as T, copy[at] as T];
  }
  return copy;
}

async function deliver(path: string, { headers, body }: Post): Promise<number> {
  const response = await fetch(origin + path, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** Posts like a provider that repeats what was not taken. */
async function repeated(path: string, post: Post): Promise<void> {
  for (;;) {
    const status = await deliver(path, post);
    if (status === 200) return;
    expect(status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe.each(Object.entries(stubs))('feedback of %s', (provider, stub) => {
  it('is recorded exactly, in any order and repeated, and only with its proof', async () => {
    const relay_transport = { name: provider, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' };
    const { id: transport_id } = await invoke(operator(), createTransport, relay_transport);
    const feedback = await invoke(operator(), setFeedback, { transport_id, provider, secret: stub.secret });
    const secret = feedback.secret ?? stub.secret ?? '';
    const { pathname } = new URL(feedback.url);
    await invoke(operator(), setTransportRules, { rules: [{ transports: [transport_id] }] });
    const to = (index: number) => `${provider}-${index}@example.com`;
    const ids: string[] = [];
    for (let index = 0; index < EMAILS; index++) {
      const email = { from: 'hello@shop.example', to: to(index), subject: 'Hello', text: 'Hi' };
      ids.push((await invoke(operator(), sendMessage, email)).id);
    }
    await world.drain();
    const references = new Map(
      relay.messages.map(({ envelope_to, raw }) => [envelope_to[0], stub.referenceIn(raw.toString('latin1'))]),
    );
    const reports = ids.map((id, index): Report => {
      const [bounced, complained, delayed] = [BOUNCED, BOUNCED + COMPLAINED, BOUNCED + COMPLAINED + DELAYED];
      const kind =
        index < bounced ? 'bounced' : index < complained ? 'complained' : index < delayed ? 'delayed' : 'delivered';
      const reference = references.get(to(index)) ?? '';
      expect(reference).toMatch(/^[0-9a-z]{42}\./);
      return { kind, id: `${provider}-${index}`, recipient: to(index), message_id: `${id}@shop.example`, reference };
    });

    const [first] = reports;
    if (!first) throw new Error('no report');
    const forged = stub.post({ ...first, id: 'forged' }, secret);
    const tampered = provider === 'sendgrid' ? { ...forged, body: forged.body.replace('bounce', 'spamreport') } : null;
    expect(
      await deliver(pathname, tampered ?? stub.post(first, `whsec_${Buffer.alloc(24, 1).toString('base64')}`)),
    ).toBe(401);
    for (const report of shuffled([...reports, ...reports])) await repeated(pathname, stub.post(report, secret));

    const statusOf = async (id: string) => (await invoke(operator(), getMessage, { id })).status;
    await expect
      .poll(async () => {
        const statuses = await Promise.all(ids.map(statusOf));
        return [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${status} ${all.length}`).sort();
      }, PATIENCE)
      .toEqual([`bounced ${BOUNCED}`, `complained ${COMPLAINED}`, `delivered ${EMAILS - BOUNCED - COMPLAINED}`]);
    for (const [type, count] of [
      ['email.bounced', BOUNCED],
      ['email.complained', COMPLAINED],
      ['email.delivery_delayed', DELAYED],
    ] as const) {
      const { data } = await invoke(operator(), listEvents, { type, limit: 100 });
      expect(data.filter(({ email_id }) => ids.includes(email_id ?? ''))).toHaveLength(count);
    }
    const { data } = await invoke(operator(), listSuppressions, { limit: 100 });
    const addresses = data.map(({ email }) => email).filter((email) => email.startsWith(`${provider}-`));
    expect(addresses.toSorted()).toEqual(
      Array.from({ length: BOUNCED + COMPLAINED }, (_, index) => to(index)).toSorted(),
    );
  }, 120_000);
});
