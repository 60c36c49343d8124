import { connect, type Sql } from '@postrider/db';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendMessage } from '../messages/index.ts';
import { invoke } from '../operation.ts';
import { countNow, factsOf } from './store.ts';

// A prepared statement keeps the plan that was made for it, and the first ones are made when there is no mail yet.

const GROWN = 20_000;
const MAILS = 10;

let world: World;
let own: Sql;
beforeEach(async () => {
  world = await createWorld();
  own = connect(world.database_url, { max: 1, application_name: 'plans-test' });
});
afterEach(async () => {
  await own.end();
  await world.stop();
});

/** Counts what waits by its sender, and looks up the facts of destinations with these messages; how many wait. */
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

/** Rows and entries of indexes that have been read of recipients. */
async function rowsRead(): Promise<number> {
  await own`select pg_stat_force_next_flush()`;
  const [row] = await own<{ count: number }[]>`
    select (
      (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relname ~ '^recipients_')
      + (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where relname ~ '^recipients_')
    )::int8 as count`;
  return row?.count ?? 0;
}

it.each(['vacuumed', 'never analysed'])(
  'finds the recipients of known messages by steps of an index, whatever has grown since its plans were made, %s',
  async (made) => {
    const partitions = await own<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits
      where inhparent = any ('{messages,recipients}'::regclass[])`;
    for (const { name } of partitions) {
      await own`alter table ${own(name)} set (autovacuum_enabled = false)`;
      if (made === 'vacuumed') await own`vacuum analyze ${own(name)}`;
    }
    await look(['msg_none']);
    const ids: string[] = [];
    for (let index = 0; index < MAILS; index++) {
      const to = ['ada@example.com', 'bea@example.com'];
      const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
      ids.push((await invoke(world.as(world.workspace_id), sendMessage, mail)).id);
    }
    await own`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select workspace_id, message_id || n, id, email, domain, kind, state, due_at, job_id
      from (select * from recipients limit 1) r, generate_series(1, ${GROWN}) n`;
    const before = await rowsRead();

    const waiting = await look(ids);

    expect(waiting).toBe(2 * MAILS);
    expect((await rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);
