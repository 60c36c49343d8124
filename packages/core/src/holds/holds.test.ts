import type { World } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../create-context.ts';
import { newId } from '../fields/ids.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { createWebhook } from '../webhooks/index.ts';
import { createHold } from './create-hold.ts';
import { endExpiredHolds } from './end-expired.ts';
import { getHold } from './get-hold.ts';
import { listHolds } from './list-holds.ts';
import { readHolds } from './read-holds.ts';
import { releaseHold } from './release-hold.ts';
import { takeResumption } from './store.ts';

const DAY_MS = 86_400_000;

const world = await openWorld();
let other: Awaited<ReturnType<World['workspace']>>;
beforeAll(async () => {
  other = await world.workspace('free');
});
beforeEach(async () => {
  await world.services.sql`delete from holds`;
});

/** Creates a context with an API key of a workspace. */
function actorWith(scopes: readonly Scope[], workspace_id = world.workspace_id): Context {
  const actor = { kind: 'key', workspace_id, key_id: other.key_id, scopes, mode: 'live', domains: null } as const;
  return createContext(world.services, actor, { via: 'rest' });
}

const operator = () => actorWith(['operator']);
const admin = (workspace_id?: string) => actorWith(['admin'], workspace_id);
const hold = (ctx: Context, scope: string, value: string, fields = {}) =>
  invoke(ctx, createHold, { scope, value, reason: 'An outage', ...fields });
const inMs = (ms: number) => new Date(world.clock.now() + ms).toISOString();

describe('permission to hold', () => {
  it('requires operator access for queues and destinations', async () => {
    for (const [scope, value] of [
      ['queue', 'delivery.attempt'],
      ['destination', 'Example.COM'],
    ] as const) {
      await expect(hold(admin(), scope, value)).rejects.toMatchObject({
        reason: 'missing_scope',
        facts: { required_scope: 'operator' },
      });
      expect(await hold(operator(), scope, value)).toMatchObject({
        scope,
        value: value.toLowerCase(),
        workspace_id: null,
        status: 'active',
        created_by: { kind: 'key', id: other.key_id, name: 'Other key' },
      });
    }
  });

  it('requires operator access for the instance, which is held entirely until it is released', async () => {
    await expect(hold(admin(), 'instance', 'all')).rejects.toMatchObject({ facts: { required_scope: 'operator' } });
    await expect(hold(operator(), 'instance', 'mail')).rejects.toMatchObject({ reason: 'invalid_type' });

    const held = await hold(operator(), 'instance', 'all');

    expect(held).toMatchObject({ workspace_id: null, status: 'active', expires_at: null });
    world.clock.advance(400 * DAY_MS);
    expect(await invoke(operator(), getHold, { hold_id: held.id })).toMatchObject({ status: 'active' });
    world.clock.advance(-400 * DAY_MS);
  });

  it('requires admin access for one’s own workspace, and operator access for any other', async () => {
    const { id } = await invoke(world.as(other.workspace_id), createWebhook, { url: 'https://example.com/hook' });

    await expect(
      hold(actorWith(['email:send', 'webhooks:manage'], other.workspace_id), 'webhook', id),
    ).rejects.toMatchObject({
      reason: 'missing_scope',
    });
    await expect(hold(admin(), 'webhook', id)).rejects.toMatchObject({ reason: 'webhook_not_found' });
    await expect(hold(admin(), 'api_key', other.key_id)).rejects.toMatchObject({ reason: 'api_key_not_found' });
    expect(await hold(admin(other.workspace_id), 'webhook', id)).toMatchObject({ workspace_id: other.workspace_id });
    expect(await hold(operator(), 'api_key', other.key_id)).toMatchObject({ workspace_id: other.workspace_id });
  });

  it('covers a domain in the specified workspace', async () => {
    await world.domain('theirs.test', other.workspace_id);

    await expect(hold(admin(), 'sender_domain', 'theirs.test')).rejects.toMatchObject({ reason: 'domain_not_found' });
    await expect(
      hold(admin(), 'sender_domain', 'theirs.test', { workspace_id: other.workspace_id }),
    ).rejects.toMatchObject({ reason: 'workspace_not_found' });
    const { workspace_id } = other;
    expect(await hold(operator(), 'sender_domain', 'Theirs.test', { workspace_id })).toMatchObject({
      value: 'theirs.test',
      workspace_id,
    });
  });
});

describe('the workspace specified for a hold', () => {
  it('is reported as not found if it does not exist or the caller lacks access', async () => {
    const { id } = await invoke(world.as(world.workspace_id), createWebhook, { url: 'https://example.com/own' });
    const absent = newId('workspace', world.clock.now());

    await expect(hold(admin(), 'webhook', id, { workspace_id: other.workspace_id })).rejects.toMatchObject({
      reason: 'workspace_not_found',
    });
    await expect(hold(operator(), 'webhook', id, { workspace_id: absent })).rejects.toMatchObject({
      reason: 'workspace_not_found',
    });
    expect(await hold(admin(), 'webhook', id, { workspace_id: world.workspace_id })).toMatchObject({ value: id });
  });
});

describe('a hold', () => {
  it('expires after a day by default, and after at most thirty days', async () => {
    const { created_at, expires_at } = await hold(operator(), 'destination', 'a.test');
    expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(DAY_MS);

    for (const bad of [inMs(31 * DAY_MS), inMs(-1000)]) {
      await expect(hold(operator(), 'destination', 'b.test', { expires_at: bad })).rejects.toMatchObject({
        reason: 'invalid_timestamp',
      });
    }
    for (const bad of [
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59-14:00',
      '9999-12-31T23:59:59Z',
    ]) {
      const promise = hold(operator(), 'destination', 'b.test', { expires_at: bad });
      await expect(promise, bad).rejects.toMatchObject({ reason: 'invalid_timestamp' });
    }
    await expect(hold(operator(), 'destination', 'b.test', { reason: ' ' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('expires at the requested time by the database clock, even if the process clock is wrong', async () => {
    const process_off = (ms: number) => {
      const clock = { ...world.services.clock, now: () => world.clock.now() + ms };
      const actor = { kind: 'system', workspace_id: world.workspace_id } as const;
      return createContext({ ...world.services, clock }, actor);
    };
    const MINUTE_MS = 60_000;
    const expires_at = inMs(60 * MINUTE_MS);

    const fast = await hold(process_off(10 * MINUTE_MS), 'destination', 'fast.test', { expires_at });
    const slow = await hold(process_off(-10 * MINUTE_MS), 'destination', 'slow.test', { expires_at });

    expect([fast.expires_at, slow.expires_at]).toEqual([expires_at, expires_at]);
    const past = { expires_at: inMs(-5 * MINUTE_MS) };
    await expect(hold(process_off(-10 * MINUTE_MS), 'destination', 'over.test', past)).rejects.toMatchObject({
      reason: 'invalid_timestamp',
    });
  });

  it('cannot be created twice, but can be created again after the first hold ends', async () => {
    const first = await hold(operator(), 'destination', 'a.test', { expires_at: inMs(60_000) });
    await expect(hold(operator(), 'destination', 'A.test')).rejects.toMatchObject({ reason: 'hold_exists' });

    await world.clock.advance(61_000);
    const second = await hold(operator(), 'destination', 'a.test');

    expect(await invoke(operator(), getHold, { hold_id: first.id })).toMatchObject({
      status: 'ended',
      ended_by: 'expiry',
    });
    expect((await invoke(operator(), listHolds, {})).data).toMatchObject([{ id: second.id }]);
    expect((await invoke(operator(), listHolds, { active: false })).data.map(({ id }) => id)).toEqual([
      second.id,
      first.id,
    ]);
  });

  it('can be released once, and a repeated release returns the same response', async () => {
    const { id: hold_id } = await hold(operator(), 'destination', 'a.test');

    const released = await invoke(operator(), releaseHold, { hold_id, reason: 'They are back' });

    expect(released).toMatchObject({ status: 'ended', ended_by: 'release' });
    expect(await invoke(operator(), releaseHold, { hold_id })).toEqual(released);
    const rows = await world.services.sql`
      select workspace_id, action, actor_id, reason from audit_log where target_id = ${hold_id} order by sequence`;
    expect(rows).toEqual([
      { workspace_id: '', action: 'hold.created', actor_id: other.key_id, reason: 'An outage' },
      { workspace_id: '', action: 'hold.released', actor_id: other.key_id, reason: 'They are back' },
    ]);
  });

  it('is visible, if instance-wide, to admins whose email it holds, but only operators can release it', async () => {
    const { id: hold_id } = await hold(operator(), 'destination', 'a.test');

    expect((await invoke(admin(), listHolds, {})).data).toMatchObject([{ id: hold_id }]);
    expect(await invoke(admin(), getHold, { hold_id })).toMatchObject({ id: hold_id, affected: 0 });
    await expect(invoke(admin(), releaseHold, { hold_id })).rejects.toMatchObject({ reason: 'missing_scope' });
    await expect(invoke(actorWith(['email:logs:read']), getHold, { hold_id })).rejects.toMatchObject({
      reason: 'missing_scope',
    });
  });

  it('is reported as not found if it belongs to another workspace', async () => {
    const { id: hold_id } = await hold(admin(other.workspace_id), 'api_key', other.key_id);

    for (const operation of [getHold, releaseHold]) {
      await expect(invoke(admin(), operation, { hold_id })).rejects.toMatchObject({ reason: 'hold_not_found' });
    }
    expect((await invoke(admin(), listHolds, {})).data).toEqual([]);
    expect(await invoke(admin(other.workspace_id), releaseHold, { hold_id })).toMatchObject({ status: 'ended' });
  });

  it('is visible to the workspace’s admins, who cannot release it, if an operator created it', async () => {
    const { workspace_id } = other;
    const { id: hold_id } = await hold(operator(), 'api_key', other.key_id);
    const hidden = { kind: 'system', id: 'operator', name: 'An operator' };

    await expect(invoke(admin(workspace_id), releaseHold, { hold_id })).rejects.toMatchObject({
      reason: 'missing_scope',
      facts: { required_scope: 'operator' },
    });

    expect(await invoke(admin(workspace_id), getHold, { hold_id })).toMatchObject({
      status: 'active',
      reason: 'An outage',
      created_by: hidden,
    });
    expect((await invoke(admin(workspace_id), listHolds, {})).data).toMatchObject([{ created_by: hidden }]);
    expect(await invoke(admin(workspace_id), readHolds, { ids: [hold_id] })).toMatchObject([{ created_by: hidden }]);
    expect(await invoke(operator(), getHold, { hold_id })).toMatchObject({ created_by: { id: other.key_id } });
    expect(await invoke(operator(), releaseHold, { hold_id })).toMatchObject({ status: 'ended' });
  });

  it('can be released by any workspace admin or an operator if created by an admin', async () => {
    for (const contextFor of [admin(other.workspace_id), operator()]) {
      const { id: hold_id } = await hold(admin(other.workspace_id), 'api_key', other.key_id);
      expect(await invoke(admin(other.workspace_id), getHold, { hold_id })).toMatchObject({
        created_by: { id: other.key_id },
      });
      expect(await invoke(contextFor, releaseHold, { hold_id })).toMatchObject({ status: 'ended' });
    }
  });

  it('accepts a release rate only for targets that send something', async () => {
    await expect(hold(operator(), 'queue', 'domain.recheck', { resume_rate_per_minute: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(hold(operator(), 'queue', 'no.queue')).rejects.toMatchObject({ reason: 'queue_not_found' });
    const { id: hold_id } = await hold(operator(), 'queue', 'delivery.attempt', { resume_rate_per_minute: 5 });
    expect(await invoke(operator(), releaseHold, { hold_id })).toMatchObject({ status: 'resuming' });
  });

  it('is reported to a second creator, with its original creator and creation time', async () => {
    const { id, created_at } = await hold(operator(), 'destination', 'both.test');

    const second = hold(operator(), 'destination', 'both.test', { reason: 'Another reason' });

    await expect(second).rejects.toMatchObject({
      reason: 'hold_exists',
      message: `destination both.test is already held, by Other key since ${created_at}. Release that hold before you create another.`,
    });
    expect(await invoke(operator(), getHold, { hold_id: id })).toMatchObject({ reason: 'An outage' });
  });

  it('can be released at a rate other than its original rate', async () => {
    const { id: hold_id } = await hold(operator(), 'destination', 'ramp.example', { resume_rate_per_minute: 600 });
    const { id: closes } = await hold(operator(), 'queue', 'webhook.close');

    const released = await invoke(operator(), releaseHold, { hold_id, resume_rate_per_minute: 30 });

    expect(released).toMatchObject({ status: 'resuming', resume_rate_per_minute: 30 });
    expect(await invoke(operator(), releaseHold, { hold_id })).toEqual(released);
    const [entry] = await world.services.sql<{ diff: string }[]>`
      select diff::text as diff from audit_log where action = 'hold.released' and target_id = ${hold_id}`;
    expect(entry?.diff).toContain('30');
    await expect(
      invoke(operator(), releaseHold, { hold_id: closes, resume_rate_per_minute: 30 }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await invoke(operator(), getHold, { hold_id: closes })).toMatchObject({ status: 'active' });
  });

  it.each(['release', 'expiry'])(
    'leaves a scheduled queue with one run when ended by %s; other queues keep all jobs',
    async (end) => {
      const { sql, jobs } = world.services;
      const remaining = async () => {
        const rows = await sql<{ name: string; count: number }[]>`
          select name, count(*)::int as count from pgboss.job
          where name in ('numbers.roll_up', 'webhook.close') and state = 'created' group by name`;
        return Object.fromEntries(rows.map((row) => [row.name, row.count]));
      };
      await sql`delete from pgboss.job where name in ('numbers.roll_up', 'webhook.close')`;
      const ids: string[] = [];
      for (const value of ['numbers.roll_up', 'webhook.close']) {
        ids.push((await hold(operator(), 'queue', value, { expires_at: inMs(60_000) })).id);
      }
      await sql.begin(async (tx) => {
        await jobs.send(
          tx,
          'numbers.roll_up',
          Array.from({ length: 5 }, () => ({ data: {} })),
        );
        await jobs.send(
          tx,
          'webhook.close',
          Array.from({ length: 5 }, () => ({ data: { webhook_id: 'whk_none' } })),
        );
      });
      expect(await remaining()).toEqual({ 'numbers.roll_up': 5, 'webhook.close': 5 });

      if (end === 'release') for (const hold_id of ids) await invoke(operator(), releaseHold, { hold_id });
      else {
        await world.clock.advance(61_000);
        await endExpiredHolds(world.services);
      }

      expect(await remaining()).toEqual({ 'numbers.roll_up': 1, 'webhook.close': 5 });
    },
  );

  it('is listed only once across consecutive pages', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      await world.clock.advance(1);
      ids.unshift((await hold(operator(), 'destination', `d${index}.test`)).id);
    }

    const first = await invoke(operator(), listHolds, { limit: 3 });
    const second = await invoke(operator(), listHolds, { limit: 3, cursor: first.next_cursor });

    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect([first.has_more, second.has_more]).toEqual([true, false]);
  });
});

describe('a hold’s release rate', () => {
  const rated = async (fields = {}) =>
    (await hold(operator(), 'destination', 'a.test', { resume_rate_per_minute: 5, ...fields })).id;
  const actions = async (target_id: string) =>
    (
      await world.services
        .sql`select action, diff::jsonb from audit_log where target_id = ${target_id} order by sequence`
    ).slice(1);
  const lifted = {
    action: 'hold.rate_lifted',
    diff: { resume_rate_per_minute: [5, null] },
  };

  it('is lifted immediately by a release, both while holding and while draining, even if repeated', async () => {
    const active = await rated();
    expect(await invoke(operator(), releaseHold, { hold_id: active, at_once: true })).toMatchObject({
      status: 'ended',
      ended_by: 'release',
    });

    const hold_id = await rated();
    expect(await invoke(operator(), releaseHold, { hold_id })).toMatchObject({ status: 'resuming' });
    expect(await invoke(operator(), releaseHold, { hold_id })).toMatchObject({ status: 'resuming' });
    const released_hold = await invoke(operator(), releaseHold, { hold_id, at_once: true });

    expect(released_hold).toMatchObject({ status: 'ended', ended_by: 'release' });
    expect(await invoke(operator(), releaseHold, { hold_id, at_once: true })).toEqual(released_hold);
    expect(await actions(active)).toMatchObject([{ action: 'hold.released' }, lifted]);
    expect(await actions(hold_id)).toMatchObject([{ action: 'hold.released' }, lifted]);
  });

  it('is also lifted for an expired hold that is not yet recorded as ended', async () => {
    const hold_id = await rated({ expires_at: inMs(60_000) });
    await world.clock.advance(61_000);

    expect(await invoke(operator(), releaseHold, { hold_id, at_once: true })).toMatchObject({
      status: 'ended',
      ended_by: 'expiry',
    });
    expect(await actions(hold_id)).toMatchObject([{ action: 'hold.expired' }, lifted]);
  });

  it('limits emails per minute to the exact number specified', async () => {
    await world.clock.freeze(new Date(Date.UTC(2031, 0, 1, 12)));
    const rates = [...Array.from({ length: 60 }, (_, index) => index + 1), 61, 97, 601, 7001, 59_999, 60_000];
    const ids: string[] = [];
    for (const rate of rates) {
      const { id } = await hold(operator(), 'destination', `r${rate}.test`, { resume_rate_per_minute: rate });
      await invoke(operator(), releaseHold, { hold_id: id });
      ids.push(id);
    }

    const counts = new Map(ids.map((id) => [id, 0]));
    for (let second = 0; second < 120; second++) {
      await world.clock.advance(1000);
      for (const [id, count] of await takeResumption(world.services.sql, ids, 1000)) {
        counts.set(id, (counts.get(id) ?? 0) + count);
      }
    }
    await world.clock.unfreeze();

    const wrong = rates.filter((rate, index) => {
      const count = counts.get(ids[index] ?? '') ?? 0;
      return count > 2 * rate || count < Math.floor(2 * rate * 0.999) - 1;
    });
    expect(wrong).toEqual([]);
  });
});
