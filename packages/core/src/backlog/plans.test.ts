import type { Sql } from '@postrider/db';
import { createWorld, emptyTables, type PlanWatch, type World, watchPlans } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { countNow, factsOf } from './store.ts';

const GROWN = 20_000;
const MAILS = 10;

let world: World;
let plans: PlanWatch;
let own: Sql;
beforeEach(async () => {
  world = await createWorld();
  plans = watchPlans(world.database_url, ['messages', 'recipients']);
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
    for (let index = 0; index < MAILS; index++) {
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

    expect(waiting).toBe(2 * MAILS);
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);
