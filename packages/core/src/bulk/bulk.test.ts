import { createWorld, startWebhookSink, type World } from '@postrider/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { sendBatch, sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { idFloor, newId } from '../fields/ids.ts';
import { getContent, getMessage, resendMessage } from '../messages/index.ts';
import type { Context, KeyActor } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { beginSession } from '../people/index.ts';
import type { JobData } from '../process/jobs.ts';
import { createWebhook, listWebhookDeliveries, updateWebhook } from '../webhooks/index.ts';
import { cancelBulk } from './cancel-bulk.ts';
import type { BulkAction } from './command.ts';
import { forgetBulkItems } from './forget-items.ts';
import { getBulk } from './get-bulk.ts';
import { listBulk } from './list-bulk.ts';
import { listBulkItems } from './list-items.ts';
import { previewBulk } from './preview-bulk.ts';
import { readExport } from './read-export.ts';
import { reconcileBulk } from './reconcile-bulk.ts';
import { runBulk } from './run-bulk.ts';
import { workOff, workSlice } from './work-off.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

let world: World;
beforeAll(open);
afterAll(() => world.stop());

async function open(): Promise<void> {
  world = await createWorld({ RETRY_SCHEDULE: '1h,1h', DELIVERY: 'capture' });
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
}
beforeEach(() => world.clock.advance(MINUTE_MS));
afterEach(() => world.smtp.script(() => ({ kind: 'accept' })));

const ctx = () => world.as(world.workspace_id);
const inAnHour = () => new Date(world.clock.now() + HOUR_MS).toISOString();

async function send(fields: Record<string, unknown> = {}, caller: Context = ctx()): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(caller, sendMessage, mail)).id;
}
async function sendMany(count: number, fields: Record<string, unknown>): Promise<void> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  for (let remaining = count; remaining > 0; remaining -= 100) {
    await invoke(ctx(), sendBatch, { messages: Array.from({ length: Math.min(100, remaining) }, () => mail) });
  }
}
const status = async (id: string) => (await invoke(ctx(), getMessage, { id })).status;
const copiesOf = (id: string) => world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`)).length;
const deferAll = () => world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));

/** Advances the clock, so that messages just sent fall before the cutoff. */
async function preview(action: BulkAction, filter: Record<string, unknown>, caller: Context = ctx()) {
  await world.clock.advance(1);
  return invoke(caller, previewBulk, { action, filter });
}
async function run(token: string, options: Record<string, unknown> = {}, caller: Context = ctx()) {
  if (caller.actor.kind === 'key') await keep(caller.actor);
  return invoke(caller, runBulk, { token, reason: 'because', rate_per_second: 1000, ...options });
}
/** Stores the key that starts operations; without it they are denied. */
async function keep({ workspace_id, key_id, scopes, mode }: KeyActor): Promise<void> {
  await world.services.sql`
    insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at)
    values (${workspace_id}, ${key_id}, 'Test', ${Buffer.from(key_id)}, 'pr', 'last', ${[...scopes]}::text[], ${mode},
      clock_now())
    on conflict do nothing`;
}
async function start(action: BulkAction, filter: Record<string, unknown>, options: Record<string, unknown> = {}) {
  return run((await preview(action, filter)).token, options);
}
/** Runs the jobs like a worker, advancing the clock as the rate requires. */
async function workUntilEnd(): Promise<void> {
  for (;;) {
    const jobs = await world.services.jobs.fetch('bulk.run', 10);
    if (jobs.length === 0) return;
    for (const job of jobs) {
      for (;;) {
        const slice = await workSlice(world.services, job.data, false);
        if (slice.over) break;
        if (slice.wait_ms > 0) await world.clock.advance(Math.ceil(slice.wait_ms));
      }
      await world.services.sql.begin((tx) => world.services.jobs.complete(tx, 'bulk.run', [job]));
    }
  }
}
const items = async (id: string) => (await invoke(ctx(), listBulkItems, { id, limit: 100 })).data;
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error.reason as string,
  );
const audited = async (target_id: string) =>
  (
    await world.services.sql<{ action: string }[]>`
      select action from audit_log where target_id = ${target_id} order by workspace_id, sequence`
  ).map(({ action }) => action);
const keyIds = new Map<string, string>();

function asActor({ workspace_id = world.workspace_id, scopes = ['admin'], mode = 'live' }: Partial<KeyActor>) {
  const name = ['key', workspace_id, mode, ...scopes].join('_');
  const key_id = keyIds.get(name) ?? newId('api_key', 0);
  keyIds.set(name, key_id);
  return createContext(world.services, { kind: 'key', workspace_id, key_id, scopes, mode, domains: null });
}

describe('a bulk preview', () => {
  it('finds email by recipient domain, case-insensitively, and the run affects no other email', async () => {
    const to_domain = 'Held.Example';
    const aimed = [
      await send({ to: ['ada@held.example', 'bob@held.example'], scheduled_at: inAnHour() }),
      await send({ cc: 'ada@held.example', scheduled_at: inAnHour() }),
    ];
    const other = await send({ to: 'ada@not-held.example', scheduled_at: inAnHour() });

    const result = await preview('cancel', { to_domain });
    await run(result.token);
    await workUntilEnd();

    expect(result).toMatchObject({ matched: 2, matched_exact: true });
    expect(result.sample.toSorted()).toEqual(aimed.toSorted());
    for (const id of aimed) expect(await status(id)).toBe('canceled');
    expect(await status(other)).toBe('scheduled');
  });

  it('finds email by the transport of an attempt', async () => {
    deferAll();
    const id = await send({ tags: ['by_transport'] });
    await world.drain();
    const other = await send({ tags: ['by_transport'] });
    await world.drain();
    const transport = newId('transport', world.clock.now());
    await world.services.sql`update attempts set transport_id = ${transport} where message_id = ${id}`;

    expect((await preview('give_up', { transport })).sample).toEqual([id]);
    expect((await preview('give_up', { tag: 'by_transport', transport: 'default' })).sample).toEqual([other]);
    expect(await reasonOf(preview('give_up', { transport: 'ses' }))).toBe('invalid_type');
  });

  it('rejects an invalid domain', async () => {
    expect(await reasonOf(preview('cancel', { to_domain: 'ada@held.example' }))).toBe('invalid_domain');
  });

  it('counts and samples email, reports skipped items, and changes nothing', async () => {
    const scheduled = await send({ tags: ['preview'], scheduled_at: inAnHour() });
    const sent = await send({ tags: ['preview'] });
    await world.drain();

    const result = await preview('cancel', { tag: 'preview' });

    expect(result).toMatchObject({
      action: 'cancel',
      matched: 1,
      matched_exact: true,
      sample: [scheduled],
      skipped: [{ reason: 'already_sent', count: 1, exact: true }],
      warning: 'Canceled email is never sent.',
    });
    expect([await status(scheduled), await status(sent)]).toEqual(['scheduled', 'delivered']);
  });

  it.each([
    ['cancel', {}],
    ['send_now', { scheduled_at: '1h' }],
  ] as const)('a %s preview counts attempted email as skipped', async (action, when) => {
    const tags = [`tried-${action}`];
    const fields = () => ({ tags, ...('scheduled_at' in when && { scheduled_at: inAnHour() }) });
    // Moves scheduled messages of other tests out of the way.
    await world.clock.advance(2 * HOUR_MS);
    await world.drain();
    const partial = await send({ ...fields(), to: ['ada@example.com', 'bob@example.com'] });
    await world.clock.advance('scheduled_at' in when ? HOUR_MS : 0);
    // One of the message's two jobs is claimed and does not move.
    expect(await world.services.jobs.fetch('delivery.attempt', 1)).toHaveLength(1);
    await world.drain();
    const waiting = await send(fields());

    const result = await preview(action, { tag: tags[0] });
    const { id } = await run(result.token);
    await workUntilEnd();

    expect(await status(partial)).toBe('scheduled_at' in when ? 'scheduled' : 'queued');
    expect(copiesOf(partial)).toBe(1);
    expect(result).toMatchObject({ matched: 1, sample: [waiting], skipped: [{ reason: 'already_sent', count: 1 }] });
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ done: 1, skipped: 0 });
  });

  it('rejects an unknown filter name, which would otherwise match everything', async () => {
    expect(await reasonOf(preview('cancel', { stauts: 'scheduled' }))).toBe('misspelled_field');
    expect(await reasonOf(preview('cancel', { anything: 'x' }))).toBe('invalid_type');
    expect(await reasonOf(preview('cancel', { status: 'lost' }))).toBe('invalid_status');
    expect(await reasonOf(preview('replay', {}))).toBe('missing_field');
  });

  it('warns if the filter is empty', async () => {
    expect((await preview('export', {})).warning).toContain('all email in the workspace');
    expect((await preview('export', { tag: 'x' })).warning).toBeNull();
  });
});

describe('a bulk operation', () => {
  it('affects only previewed email, not email outside the filter or newer than the preview', async () => {
    const fields = { tags: ['one'], scheduled_at: inAnHour() };
    const match = await send(fields);
    const other = await send({ ...fields, tags: ['other'] });
    const { token } = await preview('cancel', { tag: 'one', status: 'scheduled' });
    await world.clock.advance(1);
    const newer_id = await send(fields);

    const { id } = await run(token);
    await workUntilEnd();

    expect([await status(match), await status(other), await status(newer_id)]).toEqual([
      'canceled',
      'scheduled',
      'scheduled',
    ]);
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({
      status: 'completed',
      reason: 'because',
      matched: 1,
      done: 1,
      failed: 0,
      skipped: 0,
      created_by: { kind: 'system' },
    });
    expect(await items(id)).toMatchObject([{ id: match, outcome: 'done', reason: null }]);
    expect(await audited(id)).toEqual(['bulk.started', 'bulk.ended']);
  });

  it('skips email whose id predates its acceptance because of a slow clock', async () => {
    const { token } = await preview('cancel', { tag: 'behind' });
    await world.clock.advance(MINUTE_MS);
    const id = await send({ tags: ['behind'], scheduled_at: inAnHour() });
    const early_id = idFloor('message', world.clock.now() - 2 * MINUTE_MS) + id.slice(-16);
    await world.services.sql.begin(async (tx) => {
      await tx`update messages set id = ${early_id} where id = ${id}`;
      await tx`update recipients set message_id = ${early_id} where message_id = ${id}`;
      await tx`update message_tags set message_id = ${early_id} where message_id = ${id}`;
    });

    const bulk = await run(token);
    await workUntilEnd();

    expect(await items(bulk.id)).toMatchObject([{ id: early_id, outcome: 'skipped', reason: 'not_matching' }]);
    expect(await status(early_id)).toBe('scheduled');
  });

  it('skips items that stop matching between being listed and being processed', async () => {
    const changed = await send({ tags: ['left'], scheduled_at: inAnHour() });
    const other = await send({ tags: ['left'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'left', status: 'scheduled' });
    const holder = await world.services.sql.reserve();
    await holder`begin`;
    await holder`update messages set status = 'queued' where id = ${changed}`;

    const working = workUntilEnd();
    await vi.waitFor(async () => {
      const waiting = await world.services.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(waiting).toHaveLength(1);
    }, 30_000);
    await holder`commit`;
    holder.release();
    await working;

    expect(Object.fromEntries((await items(id)).map((item) => [item.id, item.reason]))).toEqual({
      [changed]: 'not_matching',
      [other]: null,
    });
    expect([await status(changed), await status(other)]).toEqual(['queued', 'canceled']);
  });

  it('runs once, however often its token is submitted', async () => {
    const mail = await send({ tags: ['once'], scheduled_at: inAnHour() });
    const { token } = await preview('cancel', { tag: 'once' });

    const responses = await Promise.all([run(token), run(token), run(token)]);
    await workUntilEnd();
    await world.clock.advance(HOUR_MS);
    const repeat = await run(token, { reason: 'again' });

    expect(new Set([...responses, repeat].map(({ id }) => id)).size).toBe(1);
    expect(repeat).toMatchObject({ status: 'completed', done: 1, reason: 'because' });
    expect(await status(mail)).toBe('canceled');
    expect(await audited(repeat.id)).toEqual(['bulk.started', 'bulk.ended']);
  });

  it('has a token that fits on a few lines (newcomer N19)', async () => {
    const { token } = await preview('cancel', { tag: 'token', status: 'scheduled', to: 'ada@example.com' });

    expect(token.length).toBeLessThan(320);
  });

  it('rejects a token that was modified, has expired, or belongs to another actor', async () => {
    const { token } = await preview('cancel', { tag: 'token' });
    const other = await world.workspace('free');
    const changed = `${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;

    expect(await reasonOf(run(changed))).toBe('invalid_preview');
    expect(await reasonOf(run('made up'))).toBe('invalid_preview');
    expect(await reasonOf(run(token, {}, world.as(other.workspace_id)))).toBe('invalid_preview');
    expect(await reasonOf(run(token, {}, asActor({})))).toBe('invalid_preview');
    await world.clock.advance(15 * MINUTE_MS + 1);
    expect(await reasonOf(run(token))).toBe('invalid_preview');
  });

  it('respects its rate limit', async () => {
    await sendMany(30, { tags: ['rate'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'rate' }, { rate_per_second: 10 });
    const [job] = await world.services.jobs.fetch('bulk.run', 1);
    const done: number[] = [];
    const until = async (ms: number) => {
      await world.clock.advance(ms);
      for (;;) {
        const slice = await workSlice(world.services, job?.data ?? { bulk_id: '', turn: 0 }, false);
        if (slice.over || slice.wait_ms > 0) break;
      }
      done.push((await invoke(ctx(), getBulk, { id })).done);
    };

    for (const ms of [0, 100, 400, 500, 250, 250, 60_000, 100, 400]) await until(ms);

    // Each slice covers half a second at the rate, and an idle minute is not made up for.
    expect(done).toEqual([5, 5, 10, 15, 15, 20, 25, 25, 30]);
    await invoke(ctx(), cancelBulk, { id });
  });

  it('stops when canceled, and reports the cancellation', async () => {
    await sendMany(20, { tags: ['stop'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'stop' }, { rate_per_second: 10 });
    const [job] = await world.services.jobs.fetch('bulk.run', 1);
    const data = job?.data ?? { bulk_id: '', turn: 0 };
    await workSlice(world.services, data, false);

    const canceled = await invoke(ctx(), cancelBulk, { id, reason: 'enough' });
    await world.clock.advance(MINUTE_MS);
    const after = await workSlice(world.services, data, false);

    expect(canceled).toMatchObject({ status: 'canceled', done: 5 });
    expect(after).toMatchObject({ over: true, receipts: [] });
    expect(await invoke(ctx(), cancelBulk, { id })).toEqual(canceled);
    expect(await audited(id)).toEqual(['bulk.started', 'bulk.canceled']);
    expect((await preview('cancel', { tag: 'stop' })).matched).toBe(15);
  });

  it('cannot be canceled once it has finished', async () => {
    const { id } = await start('cancel', { tag: 'nothing' });
    await workUntilEnd();
    expect(await reasonOf(invoke(ctx(), cancelBulk, { id }))).toBe('bulk_finished');
  });

  it('releases the worker while its rate limit is exhausted', async () => {
    await sendMany(4, { tags: ['slow'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'slow' }, { rate_per_second: 1 });
    const [job] = await world.services.jobs.fetch('bulk.run', 1);

    const passed = await workSlice(world.services, job?.data ?? { bulk_id: '', turn: 0 }, 'where_it_waits');

    expect(passed).toMatchObject({ over: true, wait_ms: 1000, receipts: { length: 1 } });
    expect(await world.services.jobs.fetch('bulk.run', 5)).toEqual([]);
    await world.clock.advance(1000);
    expect(await world.services.jobs.fetch('bulk.run', 5)).toMatchObject([{ data: { bulk_id: id, turn: 1 } }]);
    await invoke(ctx(), cancelBulk, { id });
  });

  it.each([
    ['is revoked', (id: string) => world.services.sql`update api_keys set revoked_at = clock_now() where id = ${id}`],
    ['has expired', (id: string) => world.services.sql`update api_keys set expires_at = clock_now() where id = ${id}`],
    [
      'has lost its scope',
      (id: string) => world.services.sql`update api_keys set scopes = '{email:send}' where id = ${id}`,
    ],
  ])('stops before the next slice when the key that started it %s, and reports why', async (title, change) => {
    await sendMany(10, { tags: [title.replaceAll(' ', '.')], scheduled_at: inAnHour() });
    const { id: key_id } = await world.key({ scopes: ['admin'] });
    const caller = createContext(world.services, {
      kind: 'key',
      workspace_id: world.workspace_id,
      key_id,
      scopes: ['admin'],
      mode: 'live',
      domains: null,
    });
    const { id } = await run(
      (await preview('cancel', { tag: title.replaceAll(' ', '.') }, caller)).token,
      { rate_per_second: 10 },
      caller,
    );
    await workSlice(world.services, { bulk_id: id, turn: 0 }, false);

    await change(key_id);
    await world.clock.advance(MINUTE_MS);
    const after = await workSlice(world.services, { bulk_id: id, turn: 0 }, false);

    expect(after).toMatchObject({ over: true, receipts: [] });
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'canceled', done: 5 });
    expect(await audited(id)).toEqual(['bulk.started', 'bulk.canceled']);
    const [reason] = await world.services.sql`
      select reason from audit_log where target_id = ${id} and action = 'bulk.canceled'`;
    expect(reason).toEqual({ reason: 'The user or key that started it no longer has permission.' });
  });

  it('does not begin if the user who started it was removed from the workspace', async () => {
    const { sql } = world.services;
    const mail = await send({ tags: ['left.us'], scheduled_at: inAnHour() });
    const { workspace_id } = world;
    const former_id = newId('user', world.clock.now());
    await sql`insert into users (id, email, created_at) values (${former_id}, 'left@example.com', clock_now())`;
    await sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${workspace_id}, ${former_id}, 'admin', clock_now())`;
    const session = await sql.begin((tx) =>
      beginSession(tx, world.clock.now(), { user_id: former_id, workspace_id, by_link: false }),
    );
    const caller = createContext(world.services, {
      kind: 'user',
      workspace_id,
      user_id: former_id,
      session_id: session.id,
      email: 'left@example.com',
      scopes: ['admin'],
      factor_due: false,
    });
    const { id } = await run((await preview('cancel', { tag: 'left.us' }, caller)).token, {}, caller);

    await sql`delete from members where user_id = ${former_id}`;
    await workUntilEnd();

    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'canceled', done: 0 });
    expect(await status(mail)).toBe('scheduled');
  });

  it('waits for a slot in its workspace, while other workspaces continue', async () => {
    const other = asActor({ workspace_id: (await world.workspace('free')).workspace_id });
    const own = await start('cancel', { tag: 'seats' });
    const theirs = await run((await preview('cancel', { tag: 'seats' }, other)).token, {}, other);
    const busy = await world.services.sql.reserve();
    await busy`begin`;
    await busy`
      select pg_advisory_xact_lock(hashtextextended('bulk seat ' || n || ' of ' || ${world.workspace_id}, 0))
      from generate_series(1, 2) n`;

    const waiting = await workSlice(world.services, { bulk_id: own.id, turn: 0 }, 'where_it_waits');
    const worked = await workSlice(world.services, { bulk_id: theirs.id, turn: 0 }, 'where_it_waits');
    await busy`commit`;
    busy.release();

    expect(waiting).toMatchObject({ over: true, wait_ms: 250, receipts: [] });
    expect(worked).toMatchObject({ over: true, wait_ms: 0 });
    await world.clock.advance(250);
    await workUntilEnd();
    expect(await invoke(ctx(), getBulk, { id: own.id })).toMatchObject({ status: 'completed' });
    expect(await invoke(other, getBulk, { id: theirs.id })).toMatchObject({ status: 'completed' });
  });

  it('is rejected while its workspace has twenty open operations, and accepted once one has finished', async () => {
    const caller = asActor({ workspace_id: (await world.workspace('free')).workspace_id });
    const tokens = [];
    for (let count = 0; count < 25; count++) tokens.push((await preview('export', { tag: 'much' }, caller)).token);

    const responses = await Promise.all(tokens.map((token) => reasonOf(run(token, {}, caller))));

    expect(responses.filter((reason) => reason === null)).toHaveLength(20);
    expect(responses.filter((reason) => reason === 'bulk_limit')).toHaveLength(5);
    const rejected = tokens[responses.indexOf('bulk_limit')] ?? '';
    const bulk = await run(tokens[responses.indexOf(null)] ?? '', {}, caller);
    await invoke(caller, cancelBulk, { id: bulk.id });
    expect(await reasonOf(run(rejected, {}, caller))).toBeNull();
    await workUntilEnd();
  });

  it('processes each of ten thousand items once, despite two concurrent workers and crashes', async () => {
    await sendMany(10_000, { tags: ['many'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'many' });
    const [job] = await world.services.jobs.fetch('bulk.run', 1);
    const data = job?.data ?? { bulk_id: '', turn: 0 };
    const peer = await world.peer();
    // Every tenth slice fails at commit, as if its worker had died there.
    await world.services.sql`create sequence slices`;
    await world.services.sql`
      create function lose_slice() returns trigger language plpgsql as $$
      begin
        if new.place % 250 = 0 and nextval('slices') % 10 = 0 then raise exception 'the worker died'; end if;
        return null;
      end $$`;
    await world.services.sql`
      create constraint trigger lose_slice after insert on bulk_items deferrable initially deferred
      for each row execute function lose_slice()`;
    let lost = 0;
    const persist = async (services: typeof world.services) => {
      for (;;) {
        try {
          await runToEnd(services, data);
          return;
        } catch (error) {
          expect(String(error)).toContain('the worker died');
          lost += 1;
        }
      }
    };

    await Promise.all([persist(world.services), persist(peer)]);

    await world.services.sql`drop trigger lose_slice on bulk_items`;
    expect(lost).toBeGreaterThan(2);
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({
      status: 'completed',
      matched: 10_000,
      done: 10_000,
      failed: 0,
      skipped: 0,
    });
    const [count] = await world.services.sql`
      select count(*)::int as receipts, count(distinct item_id)::int as items, max(place) as last
      from bulk_items where bulk_id = ${id}`;
    expect(count).toEqual({ receipts: 10_000, items: 10_000, last: 10_000 });
    expect((await preview('cancel', { tag: 'many', status: 'canceled,scheduled' })).matched).toBe(0);
    const [events] = await world.services.sql`
      select count(*)::int as canceled from events e join message_tags t on t.message_id = e.message_id
      join tags g on g.id = t.tag_id where g.name = 'many' and e.type = 'email.canceled'`;
    expect(events).toEqual({ canceled: 10_000 });
  });

  it('moves to the next job when a slice commits, after which the previous job cannot continue', async () => {
    await sendMany(20, { tags: ['turns'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'turns' }, { rate_per_second: 10 });
    const [job] = await world.services.jobs.fetch('bulk.run', 1);
    const data = job?.data ?? { bulk_id: '', turn: 0 };

    const passed = await workSlice(world.services, data, true);
    const stale = await workSlice(world.services, data, true);

    expect(passed).toMatchObject({ over: true, receipts: { length: 5 } });
    expect(stale).toMatchObject({ over: true, receipts: [] });
    expect(await world.services.jobs.fetch('bulk.run', 5)).toEqual([]);
    await world.clock.advance(500);
    await workUntilEnd();
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'completed', done: 20 });
  });

  it('gets a new job if its job is missing, but not while its job is live', async () => {
    await sendMany(5, { tags: ['orphan'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'orphan' });
    await world.clock.advance(2 * MINUTE_MS);
    expect(await reconcileBulk(world.services)).toBe(0);
    await world.services.sql`delete from pgboss.job where name = 'bulk.run'`;

    const rescued = await Promise.all([reconcileBulk(world.services), reconcileBulk(await world.peer())]);
    expect(rescued.sort()).toEqual([0, 1]);
    expect(await reconcileBulk(world.services)).toBe(0);
    const [jobs] = await world.services.sql`select count(*)::int as live from pgboss.job where name = 'bulk.run'`;
    await workUntilEnd();

    expect(jobs).toEqual({ live: 1 });
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'completed', done: 5 });
  });

  it('fails an invalid item and processes the others', async () => {
    const messages = [];
    for (const subject of ['a', 'poison', 'c']) {
      messages.push(await send({ tags: ['poison'], subject, scheduled_at: inAnHour() }));
    }
    await world.services.sql`
      create function poison() returns trigger language plpgsql as $$
      begin
        if new.subject = 'poison' and new.status = 'canceled' then raise exception 'it cannot be'; end if;
        return new;
      end $$`;
    await world.services.sql`create trigger poison before update on messages for each row execute function poison()`;

    const { id } = await start('cancel', { tag: 'poison' });
    await workUntilEnd();

    await world.services.sql`drop trigger poison on messages`;
    expect(await Promise.all(messages.map(status))).toEqual(['canceled', 'scheduled', 'canceled']);
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'completed', done: 2, failed: 1 });
    expect((await invoke(ctx(), listBulkItems, { id, outcome: 'failed' })).data).toMatchObject([
      { id: messages[1], reason: 'unexpected' },
    ]);
  });

  it('skips and reports each email that a delivery worker claims first', async () => {
    await sendMany(60, { tags: ['race'], to: ['ada@example.com', 'bob@example.com'] });
    const { id } = await start('cancel', { tag: 'race' });

    await Promise.all([world.drain(), workUntilEnd()]);
    await world.drain();

    const { done, skipped, failed } = await invoke(ctx(), getBulk, { id });
    const receipts = await items(id);
    for (const { id: mail, outcome } of receipts) {
      expect([mail, copiesOf(mail), await status(mail)]).toEqual(
        outcome === 'done' ? [mail, 0, 'canceled'] : [mail, 2, 'delivered'],
      );
    }
    expect(done + skipped).toBe(receipts.length);
    expect(failed).toBe(0);
  });
});

async function runToEnd(services: World['services'], data: { bulk_id: string; turn: number }): Promise<void> {
  for (;;) {
    const { over: finished, wait_ms } = await workSlice(services, data, false);
    if (finished) return;
    if (wait_ms > 0) await world.clock.advance(Math.ceil(wait_ms));
  }
}

describe('the bulk actions', () => {
  it('retry attempts delivery of deferred email immediately', async () => {
    deferAll();
    const mail = await send({ tags: ['retry'] });
    const fresh = await send({ tags: ['retry'], to: 'bob@example.com' });
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));

    const result = await preview('retry', { tag: 'retry' });
    const { id } = await run(result.token);
    await workUntilEnd();
    await world.drain();

    expect(result.matched).toBe(2);
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ done: 2, skipped: 0 });
    expect([await status(mail), await status(fresh)]).toEqual(['delivered', 'delivered']);
    expect([copiesOf(mail), copiesOf(fresh)]).toEqual([1, 1]);
  });

  it('give_up with status filters leaves email scheduled for later unchanged', async () => {
    deferAll();
    const [deferred, scheduled] = [
      await send({ to: 'ada@waits.example' }),
      await send({ to: 'ada@waits.example', scheduled_at: inAnHour() }),
    ];
    await world.drain();
    const fresh = await send({ to: 'bob@waits.example' });

    const result = await preview('give_up', { to_domain: 'waits.example', status: 'queued,deferred,sending' });
    await run(result.token);
    await workUntilEnd();

    expect(result).toMatchObject({ matched: 2, skipped: [] });
    expect([await status(deferred), await status(fresh)]).toEqual(['failed', 'canceled']);
    expect(await status(scheduled)).toBe('scheduled');
  });

  it('send_now sends scheduled email immediately and once', async () => {
    const mail = await send({ tags: ['now'], scheduled_at: inAnHour() });

    await start('send_now', { tag: 'now' });
    await workUntilEnd();
    await world.drain();
    await world.clock.advance(2 * HOUR_MS);
    await world.drain();

    expect([await status(mail), copiesOf(mail)]).toEqual(['delivered', 1]);
  });

  it('delete removes the content of closed messages, and keeps the log and events', async () => {
    const closed = await send({ tags: ['delete'] });
    await world.drain();
    const open = await send({ tags: ['delete'], scheduled_at: inAnHour() });

    const result = await preview('delete', { tag: 'delete' });
    const { id } = await run(result.token);
    await workUntilEnd();

    expect(result).toMatchObject({ matched: 1, skipped: [{ reason: 'still_open', count: 1 }] });
    expect(result.warning).toContain('cannot be restored');
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ done: 1 });
    expect(await reasonOf(invoke(ctx(), getContent, { id: closed }))).toBe('content_gone');
    expect(await reasonOf(invoke(ctx(), resendMessage, { id: closed }))).toBe('content_gone');
    expect(await invoke(ctx(), getMessage, { id: closed })).toMatchObject({ status: 'delivered', subject: 'Hello' });
    expect(await invoke(ctx(), getContent, { id: open })).toMatchObject({ text: 'Hi' });
    const second = await start('delete', { tag: 'delete' });
    await workUntilEnd();
    expect(await items(second.id)).toMatchObject([{ id: closed, outcome: 'skipped', reason: 'content_gone' }]);
  });

  it('export stores log entries in pages for a week', async () => {
    const messages = [
      await send({ tags: ['export'] }),
      await send({ tags: ['export'] }),
      await send({ tags: ['export'] }),
    ];
    const { id } = await start('export', { tag: 'export' });
    await workUntilEnd();
    await world.drain();

    const first = await invoke(ctx(), readExport, { id, limit: 2 });
    const second = await invoke(ctx(), readExport, { id, limit: 2, cursor: first.next_cursor ?? '' });
    expect([...first.data, ...second.data]).toMatchObject(
      messages
        .sort()
        .reverse()
        .map((mail) => ({ object: 'email', id: mail, status: 'queued', subject: 'Hello' })),
    );
    expect(second.has_more).toBe(false);
    const other = await world.workspace('free');
    const { id: deletion } = await start('delete', { tag: 'export' });
    await expect(invoke(ctx(), readExport, { id: deletion })).rejects.toThrow(
      `${deletion} is not an export but delete`,
    );
    expect(await reasonOf(invoke(asActor({ workspace_id: other.workspace_id }), readExport, { id }))).toBe(
      'bulk_not_found',
    );

    await world.clock.advance(8 * DAY_MS);
    await forgetBulkItems(world.services);
    expect((await invoke(ctx(), readExport, { id })).data).toEqual([]);
    expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ done: 3 });
  });

  it('the cleanup of export lines does not read other receipts', async () => {
    const { sql } = world.services;
    const old = idFloor('bulk', world.clock.now() - 10 * DAY_MS);
    await sql`
      insert into bulk_items (bulk_id, place, item_kind, item_id, outcome, line, at)
      select ${old}::uuid, n, 'msg', derived_id('msg', no_id(), n::text), 'done', case when n <= 10 then '{}' end, clock_now() from generate_series(1, 20000) n`;
    await sql`analyze bulk_items`;
    const rowsRead = async () => {
      const [row] = await sql<{ rows: number }[]>`
        select seq_tup_read::int + coalesce(idx_tup_fetch, 0)::int as rows from pg_stat_user_tables
        where relname = 'bulk_items'`;
      return row?.rows ?? 0;
    };
    const reader = await sql.reserve();
    await reader`select pg_stat_force_next_flush()`;
    const read_before = await rowsRead();

    // A single connection runs queries like the pool, but cannot begin transactions.
    await forgetBulkItems({ sql: reader as unknown as typeof sql, clock: world.clock });

    await reader`select pg_stat_force_next_flush()`;
    reader.release();
    expect((await rowsRead()) - read_before).toBeLessThan(1000);
    const [left] = await sql`select count(*)::int as count from bulk_items where bulk_id = ${old}`;
    expect(left).toEqual({ count: 19_990 });
    await sql`delete from bulk_items where bulk_id = ${old}`;
  });

  it('replay posts failed webhook deliveries again, and skips successful ones', async () => {
    await world.drain();
    const sink = await startWebhookSink();
    sink.script(() => ({ kind: 'reply', status: 410 }));
    const { id: webhook_id } = await invoke(ctx(), createWebhook, { url: sink.url, events: ['email.delivered'] });
    try {
      await send();
      await world.drain();
      await world.postWebhooks();
      expect(await preview('replay', { webhook_id }).catch((error) => error.reason)).toBe('webhook_disabled');
      await invoke(ctx(), updateWebhook, { id: webhook_id, status: 'enabled' });
      sink.script(() => ({ kind: 'reply', status: 200 }));
      await send();
      await world.drain();
      await world.postWebhooks();

      const result = await preview('replay', { webhook_id });
      const { id } = await run(result.token);
      await workUntilEnd();
      await world.postWebhooks();

      expect(result.matched).toBe(1);
      expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ done: 1 });
      const { data } = await invoke(ctx(), listWebhookDeliveries, { id: webhook_id });
      expect(data.map((one) => [one.status, one.attempts])).toEqual([
        ['delivered', 1],
        ['delivered', 1],
      ]);
    } finally {
      await invoke(ctx(), updateWebhook, { id: webhook_id, status: 'disabled' });
      await sink.stop();
    }
  });

  it('redrive retries dead jobs and is limited to operators', async () => {
    const { sql, jobs } = world.services;
    await sql.begin((tx) => jobs.send(tx, 'domain.cancel_mail', [{ data: { workspace_id: 'w', domain: 'd' } }]));
    await sql`update pgboss.job set state = 'failed', completed_on = pgboss.job_now() where name = 'domain.cancel_mail'`;
    const filter = { queue: 'domain.cancel_mail' };
    expect(await reasonOf(preview('redrive', filter, asActor({ scopes: ['admin'] })))).toBe('missing_scope');
    const operator = asActor({ scopes: ['operator'] });

    const result = await preview('redrive', filter, operator);
    const { id, workspace_id } = await run(result.token, {}, operator);
    await workUntilEnd();

    expect(result.matched).toBe(1);
    expect(result.sample).toEqual([expect.stringMatching(/^job_/)]);
    expect(workspace_id).toBeNull();
    expect(await invoke(operator, getBulk, { id })).toMatchObject({ status: 'completed', done: 1 });
    expect(await jobs.fetch('domain.cancel_mail', 5)).toMatchObject([{ data: { workspace_id: 'w', domain: 'd' } }]);
    expect(await reasonOf(invoke(asActor({}), getBulk, { id }))).toBe('bulk_not_found');
  });
});

describe('access to bulk operations', () => {
  it('is limited to admins in their workspace and to operators; others get a not-found error', async () => {
    const other = await world.workspace('free');
    const theirs = asActor({ workspace_id: other.workspace_id });
    const { token } = await preview('export', {}, theirs);
    const { id } = await run(token, {}, theirs);
    const sender = asActor({ scopes: ['email:send', 'email:logs:read'] });
    const operator = asActor({ scopes: ['operator'] });

    expect(await reasonOf(preview('export', {}, sender))).toBe('missing_scope');
    expect(await reasonOf(preview('export', {}, operator))).toBe('missing_scope');
    const asks = [getBulk, cancelBulk, listBulkItems].map(
      (operation) => (caller: Context, bulk: string) =>
        reasonOf(invoke<z.ZodType, unknown>(caller, operation, { id: bulk })),
    );
    for (const ask of asks) {
      expect(await ask(sender, id)).toBe('missing_scope');
      expect(await ask(asActor({}), id)).toBe('bulk_not_found');
      expect(await ask(asActor({}), 'blk_nobody')).toBe('bulk_not_found');
    }
    expect((await invoke(asActor({}), listBulk, {})).data.map((bulk) => bulk.id)).not.toContain(id);
    const other_network = { action: 'export', filter: {}, workspace_id: other.workspace_id };
    expect(await reasonOf(invoke(asActor({}), previewBulk, other_network))).toBe('workspace_not_found');
    expect(await reasonOf(invoke(sender, previewBulk, other_network))).toBe('missing_scope');
    expect(await invoke(operator, previewBulk, other_network)).toMatchObject({ matched: 0 });
    expect(await reasonOf(invoke(operator, previewBulk, { ...other_network, workspace_id: 'wsp_nobody' }))).toBe(
      'workspace_not_found',
    );
    expect((await invoke(operator, listBulk, { workspace_id: other.workspace_id })).data).toMatchObject([{ id }]);
    expect(await invoke(operator, cancelBulk, { id })).toMatchObject({ status: 'canceled' });
  });

  it('is denied to sandbox keys for both starting and reading', async () => {
    await send({ tags: ['mine'], scheduled_at: inAnHour() });
    const sandbox = asActor({ mode: 'sandbox' });
    const { token } = await preview('export', { tag: 'mine' }, asActor({}));
    const { id } = await run(token, {}, asActor({}));

    expect(await reasonOf(preview('cancel', { tag: 'mine' }, sandbox))).toBe('missing_scope');
    expect(await reasonOf(run(token, {}, sandbox))).toBe('missing_scope');
    expect(await reasonOf(invoke(sandbox, listBulkItems, { id }))).toBe('missing_scope');
    await workUntilEnd();
  });

  it('never extends to another workspace’s email', async () => {
    const other = await world.workspace('business');
    const mail = await send({ tags: ['shared'], scheduled_at: inAnHour() });
    const theirs = asActor({ workspace_id: other.workspace_id });

    const result = await preview('cancel', { tag: 'shared' }, theirs);
    await run(result.token, {}, theirs);
    await workUntilEnd();

    expect(result).toMatchObject({ matched: 0, sample: [] });
    expect(await status(mail)).toBe('scheduled');
  });
});

describe('the bulk job', () => {
  it('runs to completion and then releases the worker', async () => {
    await world.clock.unfreeze();
    await sendMany(20, { tags: ['job'], scheduled_at: inAnHour() });
    const { id } = await start('cancel', { tag: 'job' }, { rate_per_second: 40 });
    const handler = (data: JobData<'bulk.run'>) => workOff(world.services, data);
    const worker = world.services.jobs.work('bulk.run', { handler, concurrency: () => 1 });

    await vi.waitFor(
      async () => expect(await invoke(ctx(), getBulk, { id })).toMatchObject({ status: 'completed', done: 20 }),
      { timeout: 30_000 },
    );
    await worker.stop();

    expect(worker.held()).toEqual([]);
    await world.clock.freeze(new Date(world.clock.now()));
  });
});
