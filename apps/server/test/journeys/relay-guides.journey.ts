import { catalogue, createServices, readConfig, type Services } from '@postrider/core';
import { createQueue } from '@postrider/queue';
import { type SmtpSink, startDnsZone } from '@postrider/testing';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startFeedback } from '../feedback/stage.ts';
import {
  type Post,
  type Report,
  SNS_HOST,
  sesId,
  sesNotification,
  snsPost,
  snsSubscription,
  stubs,
  TOPIC,
} from '../feedback/stubs.ts';
import type { Journey } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';
import { endAfterTest, follow, PATIENCE, send, startRelay, startService } from './guides.ts';

const PAGE = 'docs/relays.md';
const REFERENCE = /^[0-9a-z]{42}\./;

/** What the owner of a relay enters there. */
interface Entry {
  readonly path: string;
  readonly secret: string;
}

function entryIn(printed: string): Entry {
  const [, url = ''] = /"url": ?"([^"]+)"/.exec(printed) ?? [];
  const [, secret = ''] = /"secret": ?"([^"]+)"/.exec(printed) ?? [];
  return { path: new URL(url).pathname, secret };
}

const headerOf = (relay: SmtpSink, to: string, name: string) => {
  const email = relay.messages.findLast(({ envelope_to }) => envelope_to.includes(to))?.raw.toString('latin1') ?? '';
  return new RegExp(`^${name}: (.*)\\r$`, 'm').exec(email)?.[1];
};

/** Sends until the workers use the relay, with a reference in this header. */
async function workersFollow(server: ServerProcess, relay: SmtpSink, name: string): Promise<void> {
  const to = 'early@example.com';
  await expect
    .poll(async () => {
      await send(server, to);
      return headerOf(relay, to, name);
    }, PATIENCE)
    .toMatch(REFERENCE);
}

async function deliver({ url }: ServerProcess, { path }: Entry, { headers, body }: Post): Promise<number> {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function statusOf({ call }: ServerProcess, to: string): Promise<string | undefined> {
  const { body } = await call('GET', `/v1/email/logs?to=${encodeURIComponent(to)}`);
  return (body.data as { status: string }[])[0]?.status;
}

const becomes = (server: ServerProcess, to: string, status: 'delivered' | 'bounced') =>
  expect.poll(() => statusOf(server, to), PATIENCE).toBe(status);

/** Waits for the relay's 250 to be recorded: a report that comes before may wait for a minute. */
async function leavesThrough(server: ServerProcess, relay: SmtpSink, to: string): Promise<void> {
  await relay.waitFor(({ envelope_to }) => envelope_to.includes(to));
  await becomes(server, to, 'delivered');
}

const bounceOf = (relay: SmtpSink, to: string, header: string): Report => ({
  kind: 'bounced',
  id: 'evt_1',
  recipient: to,
  message_id: '',
  reference: headerOf(relay, to, header) ?? '',
});

/** Returns services on the database of the server, for what it does at a port that a test cannot have. */
function servicesBeside({ sql, clock, env }: Journey, own: Readonly<Record<string, string>>): Services {
  const jobs = createQueue({
    sql,
    url: env.DATABASE_URL ?? '',
    catalogue,
    application_name: 'postrider-journey',
    max_connections: 1,
    supervise: false,
    on_error: () => undefined,
  });
  const config = readConfig({ ...env, ...own });
  const log = pino({ level: 'silent' });
  const parts = {
    sql,
    jobs,
    clock,
    log,
    config,
    secret_key: env.SECRET_KEY ?? '',
    public_url: 'http://localhost:3000',
  };
  return createServices(parts);
}

describe(`a guide of ${PAGE}`, () => {
  it('sends through Amazon SES, and a signed notification makes the email bounced', async () => {
    const to = 'bounce@simulator.amazonses.com';
    const login = { user: 'AKIAEXAMPLE', pass: 'the SMTP password' };
    const relay = await startRelay(login.pass, { login, receipt: ([first = '']) => `Ok ${sesId(first)}` });
    const service = await startService();
    const { server, journey } = service;
    const dns = endAfterTest(await startDnsZone({ [SNS_HOST]: { A: ['127.0.0.1'] } }));
    const beside = { DNS_SERVERS: dns.address, WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' };
    const sns = await startFeedback(servicesBeside(journey, beside));
    const message = { MessageId: 'evt_1', Message: sesNotification({ kind: 'bounced', recipient: to }) };
    let entry: Entry | undefined;
    let view = '';

    await follow(service, {
      page: PAGE,
      heading: 'Through Amazon SES',
      relays: { 'email-smtp.eu-central-1.amazonaws.com': relay },
      async after({ text }, printed) {
        view = printed;
        if (text.includes('set-feedback')) {
          entry = entryIn(printed);
          expect(await sns.deliver(entry.path, snsPost(snsSubscription))).toBe(200);
          expect(sns.sns_requests.at(-1)).toContain('Action=ConfirmSubscription');
        }
        if (text.includes('set-rules')) await workersFollow(server, relay, 'X-Postrider-Ref');
        if (!text.includes('send --from') || entry === undefined) return;
        await leavesThrough(server, relay, to);
        // The server cannot reach the stub of SNS at port 443, so a listener beside it takes what is genuine.
        expect(await deliver(server, entry, snsPost({ ...message, TopicArn: `${TOPIC}-2` }))).toBe(401);
        expect(await sns.deliver(entry.path, snsPost(message))).toBe(200);
        await becomes(server, to, 'bounced');
      },
    });

    expect(view).toMatch(/"kind": "bounced",\s+"state": "recorded"/);
    expect(view).toContain('"status": "bounced"');
    expect(view).toContain('The topic is another one.');
  });

  it('sends through Postmark, and its webhook makes the email bounced', async () => {
    const header = 'X-PM-Metadata-postrider';
    const to = 'hardbounce@bounce-testing.postmarkapp.com';
    const relay = await startRelay('the secret key', {
      login: { user: 'PM-T-outbound-EXAMPLE', pass: 'the secret key' },
    });
    const service = await startService();
    const { server } = service;
    let entry: Entry | undefined;
    let view = '';

    await follow(service, {
      page: PAGE,
      heading: 'Through Postmark',
      relays: { 'smtp.postmarkapp.com': relay },
      async after({ text }, printed) {
        view = printed;
        if (text.includes('set-feedback')) entry = entryIn(printed);
        if (text.includes('set-rules')) await workersFollow(server, relay, header);
        if (!text.includes('send --from') || entry === undefined) return;
        await leavesThrough(server, relay, to);
        expect(headerOf(relay, to, 'X-PM-Message-Stream')).toBe('outbound');
        expect(headerOf(relay, to, 'DKIM-Signature')).toBeUndefined();
        const bounce = bounceOf(relay, to, header);
        const post = stubs.postmark?.post(bounce, entry.secret);
        expect(
          post && (await deliver(server, entry, { ...post, headers: { 'content-type': 'application/json' } })),
        ).toBe(401);
        expect(post && (await deliver(server, entry, post))).toBe(200);
        await becomes(server, to, 'bounced');
      },
    });

    expect(view).toMatch(/"kind": "bounced",\s+"state": "recorded"/);
    expect(view).toContain('"status": "bounced"');
    expect(view).toContain('The Authorization header is missing.');
  });

  it('sends through any other relay, and a signed report makes the email bounced', async () => {
    const relay = await startRelay('the password');
    const service = await startService();
    const { server } = service;
    let view = '';

    await follow(service, {
      page: PAGE,
      heading: 'Through any other relay',
      relays: { 'relay.example.com': relay },
      async after({ text }, printed) {
        view = printed;
        if (text.includes('set-rules')) await workersFollow(server, relay, 'X-Postrider-Ref');
        if (text.includes('send --from')) await leavesThrough(server, relay, 'gone@example.net');
        if (text.includes('curl')) await becomes(server, 'gone@example.net', 'bounced');
      },
    });

    expect(view).toMatch(/"kind": "bounced",\s+"state": "recorded"/);
    expect(view).toContain('"status": "bounced"');
  });
});
