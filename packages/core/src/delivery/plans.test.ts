import type { Sql } from '@postrider/db';
import { createWorld, emptyTables, type PlanWatch, type World, watchPlans } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { isoTime } from '../fields/clock.ts';
import { newId } from '../fields/ids.ts';
import { parkDeliveries, resumeParked } from '../lanes/index.ts';
import type { Services } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { RecipientKey } from '../states/index.ts';
import { claimDeliveries } from './claim.ts';
import { overdueRecipients } from './reconcile-store.ts';
import { settleDeliveries } from './settle.ts';
import { type Move, renewLeases, transition } from './store.ts';

const GROWN = 5000;
const EMAILS = 10;
const LANE = 'example.com';
const HOUR_MS = 3_600_000;

let world: World;
let plans: PlanWatch;
let own: Sql;
beforeEach(async () => {
  world = await createWorld();
  plans = watchPlans(world.database_url, ['messages', 'recipients', 'events', 'parked_deliveries']);
  own = plans.sql;
});
afterEach(async () => {
  await plans.stop();
  await world.stop();
});

/** Sends, claims and settles messages, deferring the last one, on the given connection. */
async function deliver(services: Services): Promise<number> {
  for (let index = 0; index < EMAILS; index++) {
    const mail = { from: 'hello@sandbox.test', to: `p${index}@example.com`, subject: 'Hello', text: 'Hi' };
    await invoke(world.as(world.workspace_id), sendMessage, mail);
  }
  const claimed = await claimDeliveries(services, await services.jobs.fetch('delivery.attempt', EMAILS));
  await renewLeases(
    own,
    claimed.map(({ job, lease }) => ({ ...job.data, lease })),
  );
  const phases_ms = { connect: 1, tls: 0, mail: 1, data: 1 };
  const outcome = { reply: null, error: null, target: 'mx', address: null, tls: null, tls_policy: null, phases_ms };
  const results = claimed.map((one, index) => {
    const kind = index === EMAILS - 1 ? ('deferred' as const) : ('accepted' as const);
    const full = { ...outcome, kind, stage: 'after_dot' as const, transcript: '' };
    return { claimed: one, outcome: full, duration_ms: 1, handed_back: false };
  });
  await settleDeliveries(services, results);
  return claimed.length;
}

async function send(fields: Record<string, unknown>): Promise<Move[]> {
  const ids: string[] = [];
  for (let index = 0; index < EMAILS; index++) {
    const mail = { from: 'hello@sandbox.test', to: `p${index}@example.com`, subject: 'Hello', text: 'Hi', ...fields };
    ids.push((await invoke(world.as(world.workspace_id), sendMessage, mail)).id);
  }
  const keys = await own<RecipientKey[]>`
    select workspace_id, message_id, id as recipient_id from recipients where message_id = any (${ids}::uuid[])`;
  return keys.map((key) => ({ ...key, event_id: newId('event', world.clock.now()) }));
}

/** Sends messages, prepares them for the transition, and runs it on the given connection; returns the count moved. */
async function move(name: 'cancel' | 'release' | 'bounce'): Promise<number> {
  const scheduled = { scheduled_at: isoTime(new Date(world.clock.now() + HOUR_MS)) };
  const moves = await send(name === 'bounce' ? {} : scheduled);
  if (name === 'bounce') await world.drain();
  if (name === 'release') await world.clock.advance(HOUR_MS + 1000);
  const moved = await own.begin((tx) => transition(tx, name, moves));
  return moved.length;
}

/** Reads an empty lane, parks messages in it, and takes them back; returns the count taken. */
async function resume(): Promise<number> {
  const database = { ...world.services, sql: own };
  const slice = { lane: LANE, priority: 'normal' as const, count: EMAILS, after: '' };
  await resumeParked(database, [slice]);
  await send({});
  const jobs = await database.jobs.fetch('delivery.attempt', EMAILS);
  const due_at = new Date(world.clock.now());
  await parkDeliveries(
    database,
    jobs.map((job) => ({ ...job.data, job, lane: LANE, priority: 'normal' as const, due_at })),
  );
  return (await resumeParked(database, [slice])).length;
}

/** Sends messages and lets them become overdue; returns how many of them overdueRecipients finds. */
async function overlook(): Promise<number> {
  await send({});
  await world.clock.advance(HOUR_MS);
  return (await overdueRecipients(own, 60, null, EMAILS)).length;
}

/** Adds many more messages with one event each, which are open and due tomorrow, and as many parked messages. */
async function grow(): Promise<void> {
  await own`
    insert into messages select copy.* from (select * from messages limit 1) m, generate_series(1, ${GROWN}) n,
      jsonb_populate_record(null::messages, to_jsonb(m) || jsonb_build_object('id', derived_id('msg', m.id, n::text))) copy`;
  await own`
    insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
    select workspace_id, derived_id('msg', message_id, n::text), id, email, domain, kind, 'sending', clock_now() + interval '1 day', job_id
    from (select * from recipients limit 1) r, generate_series(1, ${GROWN}) n`;
  await own`
    insert into events select copy.* from (select * from events where message_id is not null limit 1) e,
      generate_series(1, ${GROWN}) n, jsonb_populate_record(null::events, to_jsonb(e) || jsonb_build_object(
        'id', derived_id('evt', e.id, n::text), 'message_id', derived_id('msg', e.message_id, n::text))) copy`;
  await own`
    insert into parked_deliveries (job_id, lane, workspace_id, message_id, recipient_id, due_at)
    select gen_random_uuid(), 'grown', workspace_id, message_id, id, due_at
    from (select * from recipients limit 1) r, generate_series(1, ${GROWN})`;
}

const works = [
  ['claims and settles', () => deliver({ ...world.services, sql: own })],
  ['cancels', () => move('cancel')],
  ['releases', () => move('release')],
  ['records bounces', () => move('bounce')],
  ['takes parked mail back', resume],
  ['finds overdue mail', overlook],
] as const;

it('a claim writes no index entries', async () => {
  const sent = await send({});
  const jobs = await world.services.jobs.fetch('delivery.attempt', EMAILS);

  await claimDeliveries({ ...world.services, sql: own }, jobs);

  await own`select pg_stat_force_next_flush()`;
  const [row] = await own<{ updated: number; in_place: number }[]>`
    select sum(n_tup_upd)::int as updated, sum(n_tup_hot_upd)::int as in_place
    from pg_stat_user_tables where relname ~ '^recipients_'`;
  expect(row).toEqual({ updated: sent.length, in_place: sent.length });
});

describe.each(emptyTables)('a query plan made while the tables were %s', (state) => {
  it.each(works)('%s using an index', async (_, work) => {
    await plans.keepEmpty(state);
    await work();
    await grow();
    const before = await plans.rowsRead();

    const moved = await work();

    expect(moved).toBe(EMAILS);
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 4);
  });
});
