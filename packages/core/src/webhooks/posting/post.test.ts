import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  createWorld,
  expiredCertificate,
  mailCertificate,
  type SinkRequest,
  startWebhookSink,
  type WebhookSink,
  type World,
} from '@postrider/testing';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { addSuppressions } from '../../suppressions/index.ts';
import { listWebhookDeliveries } from '../deliveries/list-deliveries.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { settlePosts } from './post.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let world: World;
let sink: WebhookSink;
beforeEach(async () => {
  world = await createWorld();
  sink = await startWebhookSink({ now: world.clock.now });
});
afterEach(async () => {
  await sink.stop();
  await world.stop();
});

const system = () => world.as(world.workspace_id);
const hook = (path = '/hook', extra: Readonly<Record<string, unknown>> = {}) =>
  invoke(system(), createWebhook, { url: `${sink.url}${path}`, ...extra });
const send = (extra: Readonly<Record<string, unknown>> = {}) =>
  invoke(system(), sendMessage, {
    from: 'hello@sandbox.test',
    to: 'ada@example.com',
    subject: 'Hello',
    text: 'Hi',
    ...extra,
  });

interface PostedEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: Record<string, unknown>;
}

/** Verifies a request with the reference library, which throws if the signature or the timestamp is wrong. */
function verified(request: SinkRequest, secret: string): PostedEvent {
  // The cast is safe because the library returns the parsed body.
  return new Webhook(secret).verify(request.body.toString(), request.headers as Record<string, string>) as PostedEvent;
}

async function deliveries() {
  return world.services.sql<
    {
      id: string;
      event_id: string;
      state: string;
      attempt_count: number;
      next_attempt_at: Date;
      response_status: number | null;
      error: string | null;
    }[]
  >`select id, event_id, state, attempt_count, next_attempt_at, response_status, error from webhook_deliveries order by id`;
}

async function statusOf(id: string): Promise<{ status: string; status_reason: string | null }> {
  const [row] = await world.services.sql<{ status: string; status_reason: string | null }[]>`
    select status, status_reason from webhooks where id = ${id}`;
  if (!row) throw new Error('the webhook is gone');
  return row;
}

describe('a webhook', () => {
  it('receives every event for an email, signed, with the same body as GET /events', async () => {
    const { secret } = await hook();
    const { id } = await send({ to: ['ada@example.com', 'bob@example.com'], tags: ['a'], metadata: { order: '1' } });
    await world.drain();

    expect(await world.postWebhooks()).toBe(3);

    const posted = sink.requests.map((request) => verified(request, secret)).sort((a, b) => a.sequence - b.sequence);
    expect(posted.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['email.queued', 1],
      ['email.delivered', 2],
      ['email.delivered', 3],
    ]);
    expect(posted[0]?.data).toEqual({
      email: expect.objectContaining({ id, subject: 'Hello', tags: ['a'], metadata: { order: '1' } }),
      recipient: null,
    });
    expect(posted[1]?.data).toMatchObject({ attempt: 1, recipient: { status: 'delivered' } });
    expect(sink.requests.map(({ headers }) => headers['webhook-id']).sort()).toEqual(posted.map(({ id }) => id).sort());
    expect((await deliveries()).map(({ state, attempt_count }) => [state, attempt_count])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  it('receives only the event types it subscribes to, and no events from another workspace', async () => {
    await hook('/bounces', { events: ['email.bounced'] });
    await hook('/delivered', { events: ['email.delivered'] });
    const other = await world.workspace('free');
    await invoke(world.as(other.workspace_id), createWebhook, { url: `${sink.url}/other` });
    await send();
    await world.drain();

    await world.postWebhooks();

    expect(sink.requests.map(({ path }) => path)).toEqual(['/delivered']);
  });

  it('also receives events that do not belong to a message', async () => {
    const { secret } = await hook('/hook', { events: ['suppression.added'] });
    const { workspace_id } = world;
    const now = world.clock.now();
    const suppression = {
      workspace_id,
      id: newId('suppression', now),
      event_id: newId('event', now),
      email: 'gone@example.com',
      source: 'manual',
      reason: null,
      source_event_id: null,
      expires_at: null,
    } as const;
    await world.services.sql.begin((tx) => addSuppressions(tx, [suppression]));

    await world.postWebhooks();

    const [request] = await sink.waitFor(1);
    expect(request && verified(request, secret)).toMatchObject({
      id: suppression.event_id,
      type: 'suppression.added',
      data: { email: null, recipient: null, suppression: { email: 'gone@example.com' } },
    });
  });

  it('receives nothing from a transaction that is rolled back', async () => {
    await hook();
    const { workspace_id, services } = world;
    const event = newId('event', world.clock.now());

    await services.sql
      .begin(async (tx) => {
        await tx`insert into events (workspace_id, id, type, sequence, facts, created_at)
          values (${workspace_id}, ${event}, 'email.queued', 1, '{}', clock_now())`;
        expect(await tx`select from webhook_deliveries`).toHaveLength(1);
        throw new Error('rolled back');
      })
      .catch(() => undefined);

    expect(await deliveries()).toEqual([]);
    expect(await world.postWebhooks()).toBe(0);
  });

  it('has a body under 20 kB for any email, and lists the omitted fields', async () => {
    const { secret } = await hook('/hook', { events: ['email.queued'] });
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${index}`, 'é'.repeat(500)]));
    const to = Array.from({ length: 50 }, (_, index) => `${'"\u0001"'.length}${'a'.repeat(60)}${index}@example.com`);
    await send({ to, metadata, subject: 'é'.repeat(5000) });

    await world.postWebhooks();

    const [request] = await sink.waitFor(1);
    expect(request?.body.length).toBeLessThan(20_000);
    expect(request && verified(request, secret).data).toMatchObject({
      email: { metadata: {}, to: expect.objectContaining({ length: 10 }) },
      truncated: ['email.to', 'email.subject', 'email.metadata'],
    });
  });
});

describe('a failed webhook post', () => {
  beforeEach(() => world.clock.freeze(new Date(Math.floor(Date.now() / 1000) * 1000)));

  it('is retried on schedule with jitter, with the same id and a new timestamp', async () => {
    const { secret } = await hook('/hook', { events: ['email.queued'] });
    await send();
    sink.script(({ nth }) => ({ kind: 'reply', status: nth <= 3 ? 500 : 200, body: 'later\u0000!' }));

    const gaps: number[] = [];
    for (let round = 1; round <= 4; round++) {
      expect(await world.postWebhooks()).toBe(1);
      const [row] = await deliveries();
      gaps.push(((row?.next_attempt_at.getTime() ?? 0) - world.clock.now()) / 1000);
      // The row has microsecond precision, the clock milliseconds.
      await world.clock.advance((row?.next_attempt_at.getTime() ?? 0) - world.clock.now() + 1);
    }

    for (const [index, gap] of [5, 60, 300].entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(gap * 0.9);
      expect(gaps[index]).toBeLessThanOrEqual(gap * 1.1);
    }
    expect(new Set(sink.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const times = sink.requests.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(times).toEqual(sink.requests.map(({ received_at }) => Math.floor(received_at / 1000)));
    expect(new Set(times).size).toBe(4);
    expect(sink.requests[0] && verified(sink.requests[0], secret).type).toBe('email.queued');
    expect(await deliveries()).toMatchObject([{ state: 'delivered', attempt_count: 4, response_status: 200 }]);
    expect(await world.postWebhooks()).toBe(0);
  });

  it('is abandoned after the last scheduled retry, and shows the last response', async () => {
    await hook('/hook', { events: ['email.queued'] });
    await send();
    sink.script(() => ({ kind: 'reply', status: 500, body: `${'x'.repeat(2000)}` }));

    for (let round = 0; round < 20; round++) {
      await world.postWebhooks();
      await world.clock.advance(DAY_MS + 3 * 3_600_000);
      // Otherwise five days of failures would disable the endpoint first.
      await world.services.sql`update webhooks set failing_since = null`;
    }

    expect(await deliveries()).toMatchObject([{ state: 'failed', attempt_count: 11, response_status: 500 }]);
    const [row] = await world.services.sql<{ response_body: string }[]>`select response_body from webhook_deliveries`;
    expect(row?.response_body).toBe('x'.repeat(1024));
  });

  it.each([429, 503])(
    'waits for the Retry-After of a %i response, as do all other posts to the endpoint',
    async (status) => {
      await hook('/hook', { events: ['email.queued'] });
      await send();
      sink.script(({ nth }) =>
        nth === 1 ? { kind: 'reply', status, headers: { 'retry-after': '120' } } : { kind: 'reply', status: 200 },
      );
      await world.postWebhooks();
      await send();

      await world.clock.advance(119_000);
      expect(await world.postWebhooks()).toBe(0);
      await world.clock.advance(1000);

      expect(await world.postWebhooks()).toBe(2);
    },
  );

  it('waits for its Retry-After even if another post fails without one', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    await send();
    await send();
    const posts = await world.claimWebhooks(4);
    const [busy, broken] = posts.map(({ row, lease }) => ({ row, lease }));
    if (!busy || !broken) throw new Error('two posts were not claimed');
    const response = { kind: 'answered', text: '' } as const;

    await settlePosts(world.services, [
      { ...busy, outcome: { ...response, status: 503, retry_after: '3600', headers: {} } },
    ]);
    await settlePosts(world.services, [
      { ...broken, outcome: { ...response, status: 500, retry_after: null, headers: {} } },
    ]);

    const [row] = await world.services.sql<{ paused_until: Date | null }[]>`
      select paused_until from webhooks where id = ${id}`;
    expect(row?.paused_until?.getTime()).toBe(world.clock.now() + 3_600_000);
  });

  it('ignores Retry-After in a response with any other status', async () => {
    await hook('/hook', { events: ['email.queued'] });
    await send();
    sink.script(() => ({ kind: 'reply', status: 500, headers: { 'retry-after': '3600' } }));

    await world.postWebhooks();

    const [row] = await deliveries();
    expect((row?.next_attempt_at.getTime() ?? 0) - world.clock.now()).toBeLessThan(6000);
  });

  it('disables its endpoint immediately on 410, notifies other endpoints, and fails pending deliveries', async () => {
    const { id } = await hook('/gone', { events: ['email.queued'] });
    const { secret } = await hook('/watch', { events: ['webhook.disabled'] });
    await send();
    sink.script(({ path }) => ({ kind: 'reply', status: path === '/gone' ? 410 : 200 }));

    await world.postWebhooks();
    await send();
    await world.postWebhooks();

    expect(await statusOf(id)).toEqual({ status: 'disabled', status_reason: 'gone' });
    expect(sink.requests.filter(({ path }) => path === '/gone')).toHaveLength(1);
    const request = await sink.waitFor(({ path }) => path === '/watch');
    expect(verified(request, secret)).toMatchObject({
      type: 'webhook.disabled',
      data: { webhook: { id, status: 'disabled', reason: 'gone' } },
    });
    expect(await world.services.jobs.fetch('webhook.close', 5)).toMatchObject([{ data: { webhook_id: id } }]);
  });

  it('disables its endpoint on 410 even if the endpoint has just accepted another post', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    await send();
    await world.postWebhooks();
    await send();
    await send();
    sink.script(({ nth }) => ({ kind: 'reply', status: nth === 2 ? 200 : 410 }));

    await world.postWebhooks();

    expect(await statusOf(id)).toEqual({ status: 'disabled', status_reason: 'gone' });
  });

  it('does not count against the endpoint if the failure is on our side', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    await send();
    await world.services.sql`delete from events`;

    await world.postWebhooks();

    expect(await deliveries()).toMatchObject([{ state: 'pending', error: 'the event has expired' }]);
    const [row] = await world.services.sql`select failing_since, failure_count from webhooks where id = ${id}`;
    expect(row).toEqual({ failing_since: null, failure_count: 0 });
  });

  it('triggers a notice after a day without a success, and disables the endpoint after five days', async () => {
    const { id } = await hook('/dead', { events: ['email.queued'] });
    await hook('/watch', { events: ['webhook.failing', 'webhook.disabled'] });
    sink.script(({ path }) => ({ kind: 'reply', status: path === '/dead' ? 500 : 200 }));
    const types = () =>
      sink.requests.filter(({ path }) => path === '/watch').map(({ body }) => JSON.parse(body.toString()).type);
    const day = async () => {
      await world.clock.advance(DAY_MS);
      await send();
      await world.postWebhooks();
      await world.postWebhooks();
    };
    await send();
    await world.postWebhooks();
    expect(types()).toEqual([]);

    await day();
    expect(types()).toEqual(['webhook.failing']);
    await day();
    await day();
    await day();
    expect(await statusOf(id)).toEqual({ status: 'enabled', status_reason: null });
    await day();

    expect(types()).toEqual(['webhook.failing', 'webhook.disabled']);
    expect(await statusOf(id)).toEqual({ status: 'disabled', status_reason: 'failing' });
  });

  it('no longer counts toward disabling the endpoint after one success', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    let status = 500;
    sink.script(() => ({ kind: 'reply', status }));
    await send();
    await world.postWebhooks();
    status = 200;
    await world.clock.advance(4 * DAY_MS);
    await world.postWebhooks();
    status = 500;
    await send();
    await world.postWebhooks();
    await world.clock.advance(2 * DAY_MS);
    await world.postWebhooks();

    expect(await statusOf(id)).toMatchObject({ status: 'enabled' });
  });

  it('pauses the endpoint after five consecutive failures, then probes with single posts until one is accepted', async () => {
    await hook('/hook', { events: ['email.queued'] });
    sink.script(() => ({ kind: 'reply', status: 500 }));
    for (let count = 0; count < 12; count++) await send();
    const claim = () => world.claimWebhooks(4);
    const fail = async () => {
      const posts = await claim();
      const outcome = { kind: 'failed', error: 'refused' } as const;
      await settlePosts(
        world.services,
        posts.map(({ row, lease }) => ({ row, lease, outcome })),
      );
      return posts.length;
    };

    expect([await fail(), await fail(), await fail()]).toEqual([4, 4, 0]);
    await world.clock.advance(9 * MINUTE_MS);

    expect([await fail(), await fail()]).toEqual([1, 0]);
    await world.clock.advance(9 * MINUTE_MS);
    const probe = await claim();
    expect([probe.length, (await claim()).length]).toEqual([1, 0]);

    const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;
    await settlePosts(
      world.services,
      probe.map(({ row, lease }) => ({ row, lease, outcome })),
    );
    expect(await claim()).toHaveLength(4);
  });

  it('pauses the endpoint for ten seconds if many concurrent posts fail, however their results are batched', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    world.clock.freeze(new Date(world.clock.now()));
    for (let count = 0; count < 40; count++) await send();
    const posts = await world.claimWebhooks(40);
    const outcome = { kind: 'failed', error: 'refused' } as const;
    const results = posts.map(({ row, lease }) => ({ row, lease, outcome }));

    for (const start of [0, 10, 20, 30]) await settlePosts(world.services, results.slice(start, start + 10));

    const [row] = await world.services.sql<
      { paused_until: Date }[]
    >`select paused_until from webhooks where id = ${id}`;
    expect(posts).toHaveLength(40);
    expect(row?.paused_until.getTime()).toBe(world.clock.now() + 10_000);
  });

  it('does not pause the endpoint if posts that began later have succeeded', async () => {
    const { id } = await hook('/hook', { events: ['email.queued'] });
    for (let count = 0; count < 10; count++) await send();
    const posts = await world.claimWebhooks(10);
    const outcome = { kind: 'failed', error: 'no response' } as const;

    await settlePosts(
      world.services,
      posts.map(({ row, lease }) => ({ row, lease, outcome, outdated: true as const })),
    );

    const rows = await world.services.sql`
      select paused_until, failure_count, failing_since from webhooks where id = ${id}`;
    expect(rows).toEqual([{ paused_until: null, failure_count: 0, failing_since: null }]);
    expect((await deliveries()).map(({ attempt_count }) => attempt_count)).toEqual(posts.map(() => 1));
  });
});

describe('an endpoint whose name now resolves to a private address', () => {
  it('receives no connection, and the error reveals nothing about the private network', async () => {
    const guarded = await createWorld({ WEBHOOK_ALLOW_NETWORKS: '203.0.113.0/24' });
    try {
      guarded.dns.set('hook.test', 'A', ['203.0.113.9']);
      const url = `http://hook.test:${new URL(sink.url).port}/`;
      const context = guarded.as(guarded.workspace_id);
      await invoke(context, createWebhook, { url, events: ['email.queued'] });
      guarded.dns.set('hook.test', 'A', ['127.0.0.1']);
      const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
      await invoke(context, sendMessage, mail);

      await guarded.postWebhooks();

      const rows = await guarded.services.sql`select state, error, response_status from webhook_deliveries`;
      expect(rows).toEqual([
        {
          state: 'pending',
          error: 'hook.test resolves to an address that is not public',
          response_status: null,
        },
      ]);
      expect(sink.requests).toEqual([]);
      expect(JSON.stringify(guarded.logged)).not.toContain('127.0.0.1');
    } finally {
      await guarded.stop();
    }
  });
});

describe('a posting lease', () => {
  it('excludes other workers, and a former owner cannot change anything', async () => {
    await hook('/hook', { events: ['email.queued'] });
    await send();
    const first = await world.claimWebhooks(4);
    expect(await world.claimWebhooks(4)).toEqual([]);
    await world.clock.advance(MINUTE_MS);
    const second = await world.claimWebhooks(4);
    expect(second.map(({ row }) => row.event_id)).toEqual(first.map(({ row }) => row.event_id));

    const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;
    await settlePosts(
      world.services,
      first.map(({ row, lease }) => ({ row, lease, outcome })),
    );
    expect(await deliveries()).toMatchObject([{ state: 'pending', attempt_count: 2 }]);
    await settlePosts(
      world.services,
      second.map(({ row, lease }) => ({ row, lease, outcome })),
    );

    expect(await deliveries()).toMatchObject([{ state: 'delivered', attempt_count: 2 }]);
    expect(world.logged.map((line) => line.msg)).toContain('dropped webhook results whose lease had expired');
  });

  it('is released immediately together with unposted deliveries, without counting an attempt', async () => {
    await hook('/hook', { events: ['email.queued'] });
    await send();
    const posts = await world.claimWebhooks(4);

    await settlePosts(
      world.services,
      posts.map(({ row, lease }) => ({ row, lease, outcome: null })),
    );

    expect(await deliveries()).toMatchObject([{ state: 'pending', attempt_count: 0 }]);
    expect(await world.claimWebhooks(4)).toHaveLength(1);
  });
});

describe('a TLS receiver', () => {
  const known = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(known));

  it.each([
    ['has expired', 'expired.test', expiredCertificate, [expiredCertificate.cert], 'certificate has expired'],
    ['is signed by itself', 'mx1.good.test', mailCertificate, [], 'self-signed certificate'],
    [
      'is for another host',
      'other.test',
      mailCertificate,
      [mailCertificate.cert],
      "Hostname/IP does not match certificate's altnames: Host: other.test. is not in the cert's altnames: " +
        'DNS:mx1.good.test, DNS:mx2.good.test, DNS:mta-sts.good.test',
    ],
  ])(
    'receives nothing if its certificate %s, and the delivery reports why',
    async (_, host, certificate, trusted, error) => {
      const receiver = await startWebhookSink({ tls: certificate });
      const guarded = await createWorld({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
      try {
        setDefaultCACertificates([...trusted]);
        guarded.dns.set(host, 'A', ['127.0.0.1']);
        const url = `https://${host}:${new URL(receiver.url).port}/hook`;
        const context = guarded.as(guarded.workspace_id);
        const { id } = await invoke(context, createWebhook, { url, events: ['email.queued'] });
        const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
        await invoke(context, sendMessage, mail);

        expect(await guarded.postWebhooks()).toBe(1);

        const { data } = await invoke(context, listWebhookDeliveries, { id });
        expect(data).toMatchObject([{ status: 'pending', attempts: 1, response_status: null, error }]);
        expect(receiver.requests).toEqual([]);
      } finally {
        await guarded.stop();
        await receiver.stop();
      }
    },
  );
});
