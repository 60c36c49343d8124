import type { Sql } from '@postrider/db';
import { createWorld, emptyTables, type PlanWatch, type World, watchPlans } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { countNow, factsOf } from './store.ts';

const GROWN = 20_000;
const EMAILS = 10;

let world: World;
let plans: PlanWatch;
let own: Sql;
beforeEach(async () => {
  world = await createWorld();
  plans = watchPlans(world.database_url, ['messages', 'recipients', 'attempts', 'parked_deliveries']);
  own = plans.sql;
});
afterEach(async () => {
  await plans.stop();
  await world.stop();
});

/** Counts waiting recipients by sender and looks up the destinations of these messages; returns the count. */
async function look(message_ids: readonly string[]): Promise<number> {
  const { total } = await own.begin((tx) => countNow(tx, 'sender_domain', world.workspace_id, 10));
  const rows = message_ids.map((id) => ({
    key: 'example.com',
    total: 2,
    counts: [],
    oldest_at: null,
    answered_message_id: id,
    oldest_message_id: id,
  }));
  await factsOf(own, 'destination', world.workspace_id, rows);
  return total.total;
}

it.each(emptyTables)(
  'a known message’s recipients are found by index, however much the tables grow after planning, %s',
  async (state) => {
    await plans.keepEmpty(state);
    await look(['msg_none']);
    const ids: string[] = [];
    for (let index = 0; index < EMAILS; index++) {
      const to = ['ada@example.com', 'bea@example.com'];
      const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
      ids.push((await invoke(world.as(world.workspace_id), sendMessage, mail)).id);
    }
    await own`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select workspace_id, derived_id('msg', message_id, n::text), id, email, domain, kind, state, due_at, job_id
      from (select * from recipients limit 1) r, generate_series(1, ${GROWN}) n`;
    const before = await plans.rowsRead();

    const waiting = await look(ids);

    expect(waiting).toBe(2 * EMAILS);
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);

it.each(emptyTables)(
  'a count by transport reads only the attempts and lanes of waiting email, however many others there are, %s',
  async (state) => {
    const { workspace_id } = world;
    const count = () => own.begin((tx) => countNow(tx, 'transport', workspace_id, 10));
    await plans.keepEmpty(state);
    await count();
    for (let index = 0; index < EMAILS; index++) {
      const email = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
      await invoke(world.as(workspace_id), sendMessage, email);
    }
    await own`update recipients set first_attempt_at = due_at`;
    await own`
      insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
        started_at, finished_at)
      select workspace_id, message_id, derived_id('att', message_id, ''), id, 1, 'deferred', 'rcpt', 'mx', '{}', due_at, due_at
      from recipients`;
    await own`
      insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
        started_at, finished_at)
      select workspace_id, derived_id('msg', message_id, n::text), id, recipient_id, 1, 'accepted', 'rcpt', 'mx', '{}',
        started_at, finished_at
      from (select * from attempts limit 1) a, generate_series(1, ${GROWN}) n`;
    await own`
      insert into parked_deliveries (job_id, lane, workspace_id, message_id, recipient_id, due_at)
      select gen_random_uuid(), 'example.net', workspace_id, message_id, recipient_id, started_at
      from (select * from attempts limit 1) a, generate_series(1, ${GROWN}) n`;
    const before = await plans.rowsRead();

    const { rows } = await count();

    expect(rows).toMatchObject([{ key: 'default', total: EMAILS }]);
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);
