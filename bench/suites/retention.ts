import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Sql } from '@postrider/db';
import { stopAll } from '../measure/flow.ts';
import { runOpenLoop } from '../measure/open-loop.ts';
import type { BenchOptions } from '../options.ts';
import { onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct, startProduct } from '../product/product.ts';
import { workspaceIds } from '../product/seed.ts';
import { vacuum } from '../product/vacuum.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { line, type Report } from '../report/table.ts';

const MAX_EMAILS = 1_000_000;
const KEYS = 10;
const PER_SECOND = 200;
const LOAD_SECONDS = 30;
const BEFORE_MS = 5000;
const OPEN = 100;
const RETRY_MS = 500;
const SAMPLE_MS = 4;
/** In the order in which the hourly job drops them. */
const tables = ['transcripts', 'bodies', 'attempts', 'events', 'message_tags', 'messages', 'recipients'] as const;

/** Drops an expired month while messages are accepted and sent. */
export function benchRetention({ messages }: BenchOptions): Promise<Report[]> {
  const count = Math.min(messages, MAX_EMAILS);
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('retention'), KEYS);
    const sink = await startSinkProcess();
    try {
      await seedMonth(product.sql, count, await workspaceIds(product.sql));
      await vacuum(product.sql);
      const bytes = await sizeOf(product.sql);
      const rest = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'rest' });
      const worker = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'worker' });
      try {
        const loading = runOpenLoop({
          port: rest.port,
          rate: PER_SECOND,
          seconds: LOAD_SECONDS,
          requests: product.requests,
        });
        await delay(BEFORE_MS);
        const waits = watchWaits(product.url);
        const calm_ms = await waits.longest(BEFORE_MS);
        const drops = await dropMonth(product);
        await delay(BEFORE_MS);
        const longest_ms = await waits.stop();
        const load = await loading;
        const total_ms = drops.reduce((sum, { ms }) => sum + ms, 0);
        const slowest = drops.toSorted((a, b) => b.ms - a.ms)[0];
        const rejected = [...load.statuses].filter(([status]) => status !== 202).reduce((sum, [, n]) => sum + n, 0);
        const lines = [
          line('', `dropping ${drops.length} partitions, s`, gigabytes(bytes), [total_ms / 1000], { at_most: 1 }),
          line('', 'the longest of them', `${slowest?.partition} ${slowest?.ms.toFixed(0)} ms`),
          line(
            '',
            'attempts that gave up after 100 ms and were repeated',
            String(sumOf(drops.map(({ turns }) => turns - 1))),
          ),
          line('', 'longest lock wait of a statement, ms', `${calm_ms.toFixed(0)} ms before`, [longest_ms], {
            at_most: 200,
          }),
          line('', 'responses other than 202', `p99 ${load.p99_ms.toFixed(0)} ms`, [rejected], { at_most: 0 }),
          line('', 'open emails of that month that were lost', `of ${OPEN}`, [OPEN - (await openLeft(product.sql))], {
            at_most: 0,
          }),
        ];
        return [
          {
            title: `Dropping a month of ${count} messages while ${PER_SECOND} per second are accepted`,
            lines,
            rounds: null,
          },
        ];
      } finally {
        await stopAll([worker, rest]);
      }
    } finally {
      await sink.stop();
      await product.stop();
    }
  });
}

/**
 * Seeds a whole month, three months ago, with every row a delivered message leaves behind; a few messages have an open
 * recipient.
 */
async function seedMonth(sql: Sql, count: number, workspace_ids: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local synchronous_commit = off`;
    await tx`
      create temporary table seed on commit drop as
      select (${[...workspace_ids]}::uuid[])[1 + i % ${workspace_ids.length}::int] as workspace_id, t.at,
        derived_id('msg', id_floor(t.at), i::text) as id, i,
        case when i % ${Math.floor(count / OPEN)}::int = 1 then 'scheduled' else 'delivered' end::delivery_state as state
      from generate_series(1, ${count}::int) as i
      cross join lateral (
        select b.month + i * ((b.month + interval '1 month') - b.month) / ${count + 1}::int as at
        from (select date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '3 months' as month) b
      ) t
      order by 3`;
    // Creates the partitions of each week and of the month.
    await tx`
      select ensure_all_partitions(d.at) from (
        select min(at) + n * interval '7 days' as at from seed cross join generate_series(0, 5) n group by n
      ) d`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, scheduled_at,
        sent_at, delivered_at, event_count, last_event_type, last_event_at, body_bytes)
      select workspace_id, id, state, 'live', 'app@mail.example.com', 'app@mail.example.com', 'mail.example.com',
        array['u' || i || '@example.com'], '{}', '{}', 'Your receipt', '{receipt}', '{}', 1, derived_id('req', id, ''), at,
        case when state = 'scheduled' then now() + interval '9 days' end, at, at, 2, 'email.delivered', at, 1500
      from seed order by id`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, attempt_count, last_response)
      select workspace_id, id, derived_id('rcp', id, '1'), 'u' || i || '@example.com', 'example.com', 'to', state,
        case when state = 'scheduled' then now() + interval '9 days' else at end, 1, '250 2.0.0 queued'
      from seed order by id`;
    await tx`
      insert into bodies (workspace_id, message_id, html, text, headers, attachments)
      select workspace_id, id, repeat(md5(i::text), 40), 'Thank you.', '{}', '[]' from seed order by id`;
    await tx`
      insert into message_tags (tag_id, message_id) select intern_tag(workspace_id, 'receipt'), id from seed order by id`;
    await tx`
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, derived_id('evt', id, n::text), case n when 1 then 'email.queued' else 'email.delivered' end, id,
        case n when 2 then derived_id('rcp', id, '1') end, n, '{"attempt":1,"response":"250 2.0.0 queued"}', at
      from seed cross join generate_series(1, 2) n order by id, n`;
    await tx`
      insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, reply_code,
        reply_text, phases_ms, started_at, finished_at)
      select workspace_id, id, derived_id('att', id, '1'), derived_id('rcp', id, '1'), 1, 'accepted', 'data',
        'mx.example.com', 250, '2.0.0 queued', '{"connect":1,"data":2}', at, at
      from seed where state = 'delivered' order by id`;
  });
}

interface DropResult {
  readonly partition: string;
  readonly ms: number;
  readonly turns: number;
}

/**
 * Drops the month with the same function and the same pauses as the hourly job, which is not due during the
 * measurement.
 */
async function dropMonth({ sql }: ProductDatabase): Promise<DropResult[]> {
  const dropped: DropResult[] = [];
  for (const parent of tables) {
    const partitions = await sql<{ name: string }[]>`
      select c.relname as name from partitioned_tables t
      join pg_inherits i on i.inhparent = t.parent::regclass
      join pg_class c on c.oid = i.inhrelid
      cross join (
        select date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '3 months' as start
      ) month
      where t.parent = ${parent} and case when c.relname ~ '_[0-9]+$' then
        partition_start(t.parent, t.period, c.relname) < month.start + interval '1 month'
        and partition_start(t.parent, t.period, c.relname) + ('1 ' || t.period)::interval > month.start end
      order by 1`;
    for (const { name } of partitions) {
      for (let turns = 1; ; turns++) {
        const began = performance.now();
        try {
          const [row] = await sql<{ outcome: string }[]>`
            select outcome from drop_past(${parent}, ${name}, id_floor(now() - interval '35 days'))`;
          if (row?.outcome !== 'dropped') throw new Error(`${name} was kept: ${row?.outcome}`);
          dropped.push({ partition: name, ms: performance.now() - began, turns });
          break;
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === '55P03') || turns === 20) throw error;
          await delay(RETRY_MS);
        }
      }
    }
  }
  return dropped;
}

/** Repeatedly samples which statements wait for a lock. */
function watchWaits(url: string): { longest(ms: number): Promise<number>; stop(): Promise<number> } {
  const sql = connect(url, { max: 1, application_name: 'bench-waits' });
  let running = true;
  let max = 0;
  const looking = (async () => {
    while (running) {
      const [row] = await sql<{ ms: number }[]>`
        select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float8 as ms
        from pg_locks where not granted and waitstart is not null`;
      max = Math.max(max, row?.ms ?? 0);
      await delay(SAMPLE_MS);
    }
    await sql.end();
  })();
  return {
    async longest(ms) {
      await delay(ms);
      const peak = max;
      max = 0;
      return peak;
    },
    async stop() {
      running = false;
      await looking;
      return max;
    },
  };
}

/** Counts open recipients of that month that still have their message and body. */
async function openLeft(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from recipients r
    join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id
    join bodies b on b.workspace_id = r.workspace_id and b.message_id = r.message_id
    where r.is_open and r.message_id < id_floor(now() - interval '35 days')`;
  return row?.count ?? 0;
}

async function sizeOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
    where c.relkind = 'r' and c.relname ~ '^(messages|recipients|bodies|events|attempts|message_tags)_[0-9]+$'`;
  return row?.bytes ?? 0;
}

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
