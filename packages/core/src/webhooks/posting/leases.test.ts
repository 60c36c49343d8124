import { createWorld, startWebhookSink, type WebhookSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { reconcileWebhooks } from '../deliveries/reconcile-calls.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { updateWebhook } from '../endpoints/update-webhook.ts';
import { takeEndpointLeases } from './leases.ts';
import { claimPosts, settlePosts } from './post.ts';

const NOW = new Date('2030-05-15T12:00:00Z');

let world: World;
let sink: WebhookSink;
beforeEach(async () => {
  world = await createWorld();
  sink = await startWebhookSink();
  await world.clock.freeze(NOW);
});
afterEach(async () => {
  await sink.stop();
  await world.stop();
});

const system = () => world.as(world.workspace_id);
const hook = (path = '/hook', events: readonly string[] = ['email.queued']) =>
  invoke(system(), createWebhook, { url: `${sink.url}${path}`, events });
const send = (to: string | readonly string[] = 'ada@example.com') =>
  invoke(system(), sendMessage, { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' });
const fetch = () => world.services.jobs.fetch('webhook.deliver', 100);

async function happen(count = 1): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('event', world.clock.now()));
  await world.services.sql`
    insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.queued', 1, '{}', clock_now() from unnest(${ids}::uuid[]) as a (id)`;
}

/** Returns the jobs of endpoints, and the seconds until each is due. */
async function calls(): Promise<{ state: string; in_seconds: number }[]> {
  const rows = await world.services.sql<{ state: string; in_seconds: number }[]>`
    select state::text, round(extract(epoch from start_after - clock_now()))::int as in_seconds
    from pgboss.job where name = 'webhook.deliver' order by start_after, state`;
  return rows.map((row) => ({ ...row }));
}

describe('a statement that records events', () => {
  it('sends one job per endpoint, however many events it records', async () => {
    const { id } = await hook('/all');
    await hook('/none', ['email.bounced']);
    await happen(20);

    expect((await fetch()).map(({ data }) => data)).toEqual([{ workspace_id: world.workspace_id, webhook_id: id }]);
  });

  it('sends no job if no endpoint is subscribed', async () => {
    await send();
    await hook('/bounces', ['email.bounced']);
    await send();

    expect(await calls()).toEqual([]);
  });
});

describe('a webhook deleted while its first delivery is being fetched', () => {
  it('real R20: does not prevent the other deliveries from being fetched', async () => {
    const removed = await hook('/doomed');
    const other = await hook('/other');
    await happen();
    const jobs = await fetch();
    const deleted = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const deleting = world.services.sql.begin(async (tx) => {
      await tx`delete from webhooks where id = ${removed.id}`;
      deleted.resolve();
      await committed.promise;
    });
    await deleted.promise;

    const taking = takeEndpointLeases(world.services, jobs, []);
    await expect
      .poll(
        () =>
          world.services
            .sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .not.toHaveLength(0);
    committed.resolve();
    await deleting;

    expect((await taking).endpointLeases.map(({ webhook_id }) => webhook_id)).toEqual([other.id]);
  });
});

describe('an endpoint lease', () => {
  it('merges many jobs into one, which is kept until the results are recorded', async () => {
    await hook();
    await send();
    await send();
    await send();
    const { endpointLeases } = await takeEndpointLeases(world.services, await fetch(), []);
    expect(endpointLeases).toHaveLength(1);
    expect(await calls()).toEqual([{ state: 'active', in_seconds: 0 }]);
    const { posts } = await claimPosts(
      world.services,
      endpointLeases.map((endpointLease) => ({ ...endpointLease, count: 10 })),
    );
    expect(posts).toHaveLength(3);

    const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;
    await settlePosts(
      world.services,
      posts.map(({ row, lease }) => ({ row, lease, outcome })),
      endpointLeases.map((endpointLease) => ({ ...endpointLease, idle: false })),
    );

    expect(await calls()).toEqual([]);
  });

  it('is followed by one job for the next attempt, however many leases precede it', async () => {
    await hook();
    sink.script(() => ({ kind: 'reply', status: 500 }));
    await send();
    await world.postWebhooks();
    const [next] = await calls();
    expect(next?.in_seconds).toBeGreaterThanOrEqual(4);

    sink.script(() => ({ kind: 'reply', status: 200 }));
    await send();
    await send();
    expect(await world.postWebhooks()).toBe(2);

    expect(await calls()).toEqual([next]);
    await world.clock.advance(7000);
    expect(await world.postWebhooks()).toBe(1);
    expect(await calls()).toEqual([]);
  });

  it('ends immediately if the endpoint is paused, leaving only the job for the end of the pause', async () => {
    await hook();
    sink.script(() => ({ kind: 'reply', status: 503, headers: { 'retry-after': '600' } }));
    await send();
    await world.postWebhooks();

    for (let count = 0; count < 5; count++) {
      await send();
      expect(await world.postWebhooks()).toBe(0);
    }

    expect(await calls()).toEqual([{ state: 'created', in_seconds: 600 }]);
  });

  it.each([
    [20, 3],
    [1, 5],
  ])(
    'is followed, when resumed at %i per minute, by one job for the next delivery or %i s later',
    async (rate, wait) => {
      const { id } = await hook();
      await send();
      await world.services.sql`
      insert into holds (id, scope, value_id, workspace_id, reason, created_by_kind, created_by_name,
        by_operator, created_at, expires_at, ended_at, ended_by, resume_rate_per_minute)
      values (${newId('hold', world.clock.now())}, 'webhook', ${id}, ${world.workspace_id}, 'Looking', 'api_key', '',
        false, clock_now(), clock_now() + interval '1 hour', clock_now(), 'release', ${rate})`;
      const { endpointLeases } = await takeEndpointLeases(world.services, await fetch(), []);
      const idle = endpointLeases.map((endpointLease) => ({ ...endpointLease, idle: true }));

      await settlePosts(world.services, [], idle);
      await send();

      expect(await takeEndpointLeases(world.services, await fetch(), [])).toMatchObject({
        endpointLeases: [],
        others: [id],
      });
      expect(await calls()).toEqual([{ state: 'created', in_seconds: wait }]);
      await world.clock.advance(wait * 1000);
      expect((await takeEndpointLeases(world.services, await fetch(), [])).endpointLeases).toHaveLength(1);
    },
  );

  it('excludes other workers, whose jobs finish except for one job at lease expiry', async () => {
    await hook();
    await send();
    const first = await takeEndpointLeases(world.services, await fetch(), []);
    const quota = first.endpointLeases.map((endpointLease) => ({ ...endpointLease, count: 1 }));
    const peer = await world.peer();
    await send();
    await send();

    const second = await takeEndpointLeases(peer, await fetch(), []);
    await send();
    await takeEndpointLeases(peer, await fetch(), []);

    expect(second).toMatchObject({ endpointLeases: [], others: [first.endpointLeases[0]?.webhook_id] });
    expect(await calls()).toEqual([
      { state: 'active', in_seconds: 0 },
      { state: 'created', in_seconds: 10 },
    ]);
    const stranger = quota.map((one) => ({ ...one, holder: '00000000-0000-4000-8000-000000000000' }));
    expect((await claimPosts(peer, stranger)).posts).toEqual([]);
    expect((await claimPosts(world.services, quota)).posts).toHaveLength(1);
  });

  it('expires after ten seconds if its worker dies, and the events from that time are then sent', async () => {
    await hook();
    await send();
    const dead = await takeEndpointLeases(world.services, await fetch(), []);
    await claimPosts(
      world.services,
      dead.endpointLeases.map((endpointLease) => ({ ...endpointLease, count: 10 })),
    );
    await send();
    expect(await world.postWebhooks()).toBe(0);

    await world.clock.advance(10_001);

    expect(await world.postWebhooks()).toBe(1);
    // Posts the dead worker's claims once its lease has expired.
    await world.clock.advance(20_000);
    expect(await world.postWebhooks()).toBe(1);
  });

  it('ends if the endpoint is disabled, and enabling it creates a job for pending deliveries', async () => {
    const { id } = await hook();
    await send();
    await world.services.sql`update webhooks set status = 'disabled', status_reason = 'manual'`;
    expect(await world.postWebhooks()).toBe(0);
    expect(await calls()).toEqual([]);

    await invoke(system(), updateWebhook, { id, status: 'enabled' });

    expect(await world.postWebhooks()).toBe(1);
  });

  it('includes deliveries from a job that finished while the lease was ending', async () => {
    await hook();
    await send();
    const { endpointLeases } = await takeEndpointLeases(world.services, await fetch(), []);
    const { posts } = await claimPosts(
      world.services,
      endpointLeases.map((endpointLease) => ({ ...endpointLease, count: 10 })),
    );
    await send();
    const second = await fetch();
    const holders = endpointLeases.map(({ holder }) => holder);
    const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;

    // Run concurrently, in either order.
    const [start] = await Promise.all([
      takeEndpointLeases(world.services, second, holders),
      settlePosts(
        world.services,
        posts.map(({ row, lease }) => ({ row, lease, outcome })),
        endpointLeases.map((endpointLease) => ({ ...endpointLease, idle: false })),
      ),
    ]);

    const renewed =
      start.endpointLeases.length > 0
        ? start.endpointLeases
        : (await takeEndpointLeases(world.services, await fetch(), [])).endpointLeases;
    const { posts: rest } = await claimPosts(
      world.services,
      renewed.map((endpointLease) => ({ ...endpointLease, count: 10 })),
    );
    expect(rest).toHaveLength(1);
  });
});

describe('the reconciler', () => {
  it('finds due deliveries without a job, creates one job and raises an alarm', async () => {
    await hook();
    await send();
    await world.services.sql`delete from pgboss.job where name = 'webhook.deliver'`;
    expect(await reconcileWebhooks(world.services)).toBe(0);

    await world.clock.advance(61_000);

    expect(await reconcileWebhooks(world.services)).toBe(1);
    expect(world.logged).toContainEqual(
      expect.objectContaining({ rescued: 1, msg: 'rescheduled webhooks with due deliveries and no live job' }),
    );
    expect(await world.postWebhooks()).toBe(1);
    expect(await reconcileWebhooks(world.services)).toBe(0);
  });

  it('skips endpoints that are leased or paused, or have a job', async () => {
    await hook('/waiting');
    await send();
    await world.clock.advance(61_000);
    expect(await reconcileWebhooks(world.services)).toBe(0);

    await world.services.sql`update webhooks set paused_until = clock_now() + interval '1 minute'`;
    await world.services.sql`delete from pgboss.job where name = 'webhook.deliver'`;
    expect(await reconcileWebhooks(world.services)).toBe(0);

    await world.services.sql`update webhooks set paused_until = null`;
    await world.services.sql`
      insert into endpoint_leases (webhook_id, holder, held_until)
      select id, gen_random_uuid(), clock_now() + interval '10 seconds' from webhooks`;
    expect(await reconcileWebhooks(world.services)).toBe(0);

    await world.clock.advance(10_000);
    expect(await reconcileWebhooks(world.services)).toBe(1);
  });
});
