import { connect, type Sql } from '@postrider/db';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Services } from '../context.ts';
import { sendMessage } from '../messages/index.ts';
import { invoke } from '../operation.ts';
import { claimDeliveries, settleDeliveries } from './attempt.ts';
import { renewLeases } from './store.ts';

// A prepared statement keeps the plan that was made for it, and the first ones are made when there is no mail yet.

const GROWN = 5000;
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

/** Sends, takes and records mails, of which the last is refused for now; the statements run on the connection given. */
async function deliver(services: Services): Promise<number> {
  for (let index = 0; index < MAILS; index++) {
    const mail = { from: 'hello@sandbox.test', to: `p${index}@example.com`, subject: 'Hello', text: 'Hi' };
    await invoke(world.as(world.workspace_id), sendMessage, mail);
  }
  const claimed = await claimDeliveries(services, await services.jobs.fetch('delivery.attempt', MAILS));
  await renewLeases(
    own,
    claimed.map(({ job, lease }) => ({ ...job.data, lease })),
  );
  const phases_ms = { connect: 1, tls: 0, mail: 1, data: 1 };
  const outcome = { reply: null, error: null, target: 'mx', address: null, tls: null, tls_policy: null, phases_ms };
  const results = claimed.map((one, index) => {
    const kind = index === MAILS - 1 ? ('deferred' as const) : ('accepted' as const);
    const whole = { ...outcome, kind, stage: 'after_dot' as const, transcript: '' };
    return { claimed: one, outcome: whole, duration_ms: 1, handed_back: false };
  });
  await settleDeliveries(services, results);
  return claimed.length;
}

/** Many more mails, all of them open and due tomorrow. */
async function grow(): Promise<void> {
  await own`
    insert into messages select copy.* from (select * from messages limit 1) m, generate_series(1, ${GROWN}) n,
      jsonb_populate_record(null::messages, to_jsonb(m) || jsonb_build_object('id', m.id || n)) copy`;
  await own`
    insert into recipients select copy.* from (select * from recipients limit 1) r, generate_series(1, ${GROWN}) n,
      jsonb_populate_record(null::recipients, to_jsonb(r) || jsonb_build_object(
        'message_id', r.message_id || n, 'state', 'sending', 'due_at', clock_now() + interval '1 day')) copy`;
}

/** Entries of the indexes of recipients and messages that this connection has read. */
async function entriesRead(): Promise<number> {
  await own`select pg_stat_force_next_flush()`;
  const [row] = await own<{ count: number }[]>`
    select coalesce(sum(idx_tup_read), 0)::int8 as count from pg_stat_user_indexes
    where relname ~ '^(recipients|messages)_'`;
  return row?.count ?? 0;
}

it.each(['vacuumed', 'never analysed'])(
  'claims and settles by steps of an index, whatever has grown since its plans were made, %s',
  async (made) => {
    const partitions = await own<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = any ('{messages,recipients}'::regclass[])`;
    for (const { name } of partitions) {
      await own`alter table ${own(name)} set (autovacuum_enabled = false)`;
      if (made === 'vacuumed') await own`vacuum analyze ${own(name)}`;
    }
    const services = { ...world.services, sql: own };
    await deliver(services);
    await grow();
    const before = await entriesRead();

    const moved = await deliver(services);

    expect(moved).toBe(MAILS);
    expect((await entriesRead()) - before).toBeLessThan(GROWN);
  },
);
