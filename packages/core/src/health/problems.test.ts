import { randomUUID } from 'node:crypto';
import { connect, followReplica } from '@postrider/db';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { beforeAll, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createAlarmJudge } from '../alarms/index.ts';
import { createContext } from '../create-context.ts';
import { noteWorker } from '../delivery/index.ts';
import { createHold, releaseHold } from '../holds/index.ts';
import { createInstanceWatch } from '../metrics/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { invoke } from '../operation/operation.ts';
import { overviewSummary } from '../overview/index.ts';
import { createTransport, deleteTransport, setTransportRules } from '../transports/index.ts';
import { createWebhook } from '../webhooks/index.ts';
import { getHealth, instanceStatus } from './get-health.ts';

const TURN_MS = 15_000;
const HOUR_MS = 3_600_000;

const world = await openWorld();
const { services, clock } = world;
const { sql } = services;
const judge = endAfterTests(createAlarmJudge(services));
const watch = createInstanceWatch(services, judge);
const ctx = world.as(world.workspace_id);
const unreachable = connect('postgres://nobody:none@127.0.0.1:1/none', { max: 1, application_name: 'no-replica' });
const worker = randomUUID();
let webhook_id = '';

beforeAll(async () => {
  await clock.freeze(new Date(Date.UTC(2030, 4, 15, 12)));
  await sql`update roll_ups set early_until = clock_now(), final_until = clock_now()`;
  await world.domain('shop.example.com');
  ({ id: webhook_id } = await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/hook' }));
});

/** Lets one turn of the instance watch pass, with a worker that is alive and has measured the queues. */
async function turn(works = true): Promise<void> {
  await clock.advance(TURN_MS);
  if (works) await noteWorker(sql, { worker, stopped: false, ended_per_minute: 0 }, 10_000);
  await sql`update queue_measures set measured_at = clock_now()`;
  await sql`update processes set noted_at = clock_now()`;
  await watch.turn();
  await judge.idle();
}

async function measure(queue: string, row: { readonly dead?: number; readonly oldest?: number | null }): Promise<void> {
  const { dead = 0, oldest = null } = row;
  await sql`
    insert into queue_measures (queue, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at)
    values (${queue}, 0, 0, 0, ${dead}, 0, ${oldest}, clock_now())
    on conflict (queue) do update set dead = excluded.dead, oldest_ready_seconds = excluded.oldest_ready_seconds`;
}

/** Stores outcomes of the current minute. */
async function count(dimension: string, workspace_id: string, counts: Readonly<Record<string, number>>): Promise<void> {
  const { delivered = 0, bounced = 0, deferred = 0, failed = 0 } = counts;
  const unit = dimension === 'none' ? 'hour' : 'minute';
  await sql`
    insert into ${sql(`stat_${unit}s`)} (workspace_id, dimension, at, key, accepted, delivered, bounced, deferred, failed, complained,
      suppressed, canceled)
    values (${workspace_id}, ${dimension}, date_trunc(${unit}, clock_now()), ${dimension === 'provider' ? 'google' : ''}, 0,
      ${delivered}, ${bounced}, ${deferred}, ${failed}, 0, 0, 0)`;
}

const setDomain = (status: string) =>
  sql`update domains set status = ${status}, status_since = clock_now() where name = 'shop.example.com'`;
const setWebhook = (status: string, reason: string | null, failing_minutes: number | null) => sql`
  update webhooks set status = ${status}, status_reason = ${reason},
    failing_since = clock_now() - make_interval(mins => ${failing_minutes}::int) where id = ${webhook_id}`;
const setProcess = (skew: number, waiting: number) => sql`
  insert into processes (id, roles, host, noted_at, clock_skew_seconds, pool_waiting)
  values (${worker}::text::uuid, '{rest}', 'here', clock_now(), ${skew}, ${waiting})
  on conflict (id) do update set clock_skew_seconds = excluded.clock_skew_seconds, pool_waiting = excluded.pool_waiting`;
const hold = async (scope: 'queue' | 'sender_domain', value: string) =>
  (await invoke(ctx, createHold, { scope, value, reason: 'Quiet' })).id;
const setQuota = async (used: number) => {
  await sql`update plans set monthly_limit = 1000 where name = 'business'`;
  await sql`
    insert into usage_months (workspace_id, month, used) values (${world.workspace_id}, '2030-05-01', ${used})
    on conflict (workspace_id, month) do update set used = excluded.used`;
};
/** Rules only matter if email leaves the instance. */
const sending: Partial<typeof services> = { config: { ...services.config, DELIVERY: [{ kind: 'mx' }] } };
const useRelay = async (reach: 'instance' | 'workspace') => {
  const relay = { name: 'Relay', kind: 'smtp', host: 'relay.example', reach } as const;
  const { id } = await invoke(ctx, createTransport, relay);
  await invoke(ctx, setTransportRules, { rules: [{ tag: 'none', transports: [id] }], reach });
  return id;
};
const removeRelay = async (id: string, reach: 'instance' | 'workspace') => {
  await invoke(ctx, setTransportRules, { rules: [], reach });
  await invoke(ctx, deleteTransport, { transport_id: id });
};
const nothing = async () => undefined;

interface Planted {
  /** The checks that report it. */
  readonly checks: readonly string[];
  plant(): Promise<unknown>;
  fix(planted: unknown): Promise<unknown>;
  /** Changes what the judgement reads besides the database. */
  readonly parts?: Partial<typeof services>;
  readonly works?: false;
  /** How long the window lasts over which a rate is computed. */
  readonly window_ms?: number;
  /** Operators see it on the instance; the workspace's own pages do not. */
  readonly instance?: true;
}

const problems: Readonly<Record<string, Planted>> = {
  'a webhook disabled after failures': {
    checks: ['webhooks'],
    plant: () => setWebhook('disabled', 'failing', 600),
    fix: () => setWebhook('enabled', null, null),
  },
  'a failing webhook': {
    checks: ['webhooks'],
    plant: () => setWebhook('enabled', null, 11),
    fix: () => setWebhook('enabled', null, null),
  },
  'a lost DNS record': { checks: ['domains'], plant: () => setDomain('at_risk'), fix: () => setDomain('verified') },
  'a failed domain': { checks: ['domains'], plant: () => setDomain('failed'), fix: () => setDomain('verified') },
  'a suspended domain': { checks: ['domains'], plant: () => setDomain('suspended'), fix: () => setDomain('verified') },
  'a held domain': {
    checks: ['holds'],
    plant: () => hold('sender_domain', 'shop.example.com'),
    fix: (id) => invoke(ctx, releaseHold, { hold_id: String(id) }),
  },
  'a held queue': {
    checks: ['holds'],
    plant: () => hold('queue', 'delivery.attempt'),
    fix: (id) => invoke(ctx, releaseHold, { hold_id: String(id) }),
  },
  'a quota that is nearly used up': { checks: ['quota'], plant: () => setQuota(900), fix: () => setQuota(10) },
  'a quota that is used up': { checks: ['quota'], plant: () => setQuota(1000), fix: () => setQuota(10) },
  'a high bounce rate': {
    checks: ['bounces'],
    plant: () => count('none', world.workspace_id, { delivered: 100, bounced: 30 }),
    fix: nothing,
    window_ms: 25 * HOUR_MS,
  },
  'failed email': {
    checks: ['failed'],
    plant: () => count('none', world.workspace_id, { failed: 1 }),
    fix: nothing,
    window_ms: 25 * HOUR_MS,
  },
  'no worker': { checks: ['delivery'], plant: () => clock.advance(60_000), fix: nothing, works: false },
  'dead jobs': {
    checks: ['dead_jobs'],
    plant: () => measure('bulk.run', { dead: 3 }),
    fix: () => measure('bulk.run', {}),
    instance: true,
  },
  'due email that waits': {
    checks: ['line', 'alerts'],
    plant: () => measure('delivery.attempt', { oldest: 400 }),
    fix: () => measure('delivery.attempt', {}),
  },
  'webhook jobs that wait': {
    checks: ['alerts'],
    plant: () => measure('webhook.deliver', { oldest: 400 }),
    fix: () => measure('webhook.deliver', {}),
    instance: true,
  },
  'a provider that defers': {
    checks: ['alerts'],
    plant: () => count('provider', INSTANCE, { delivered: 60, deferred: 60 }),
    fix: nothing,
    window_ms: HOUR_MS / 4,
    instance: true,
  },
  'a failing schedule': {
    checks: ['schedules'],
    plant: () => schedule('failed'),
    fix: () => schedule('completed'),
    instance: true,
  },
  'a full disk': {
    checks: ['disk'],
    plant: nothing,
    fix: nothing,
    // The file system of /proc has no free space.
    parts: { config: { ...services.config, DATABASE_URL: undefined, DATA_DIR: '/proc' } },
    instance: true,
  },
  'a lagging replica': {
    checks: ['replica'],
    plant: nothing,
    fix: nothing,
    parts: { replica: endAfterTests(followReplica(sql, unreachable, () => undefined)) },
    instance: true,
  },
  'a relay without feedback': {
    checks: ['relay_feedback'],
    plant: () => useRelay('instance'),
    fix: (id) => removeRelay(String(id), 'instance'),
    parts: sending,
    instance: true,
  },
  'a relay of the workspace without feedback': {
    checks: ['relay_feedback'],
    plant: () => useRelay('workspace'),
    fix: (id) => removeRelay(String(id), 'workspace'),
    parts: sending,
  },
  'a skewed clock': { checks: ['alerts'], plant: () => setProcess(9, 0), fix: () => setProcess(0, 0), instance: true },
  'transactions that wait for connections': {
    checks: ['alerts'],
    plant: () => setProcess(0, 30),
    fix: () => setProcess(0, 0),
    instance: true,
  },
  'a destination that does not answer': {
    checks: ['waiting', 'line', 'alerts'],
    plant: async () => {
      await invoke(ctx, sendMessage, { from: 'a@sandbox.test', to: 'ada@slow.example.net', subject: 'Hi', text: 'Hi' });
      await clock.advance(400_000);
      await measure('delivery.attempt', { oldest: 400 });
    },
    fix: async () => {
      await world.drain();
      await measure('delivery.attempt', {});
    },
  },
};

async function schedule(state: 'failed' | 'completed'): Promise<void> {
  const id = randomUUID();
  await sql`
    insert into pgboss.job (id, name, state, created_on, completed_on, priority, retry_limit, retry_count)
    select ${id}::text::uuid, min(name), ${state}::text::pgboss.job_state, clock_now(), clock_now(), 0, 0, 0
    from pgboss.schedule`;
  await sql`
    update pgboss.schedule set last_job_id = ${id}::text::uuid
    where name = (select min(name) from pgboss.schedule)`;
}

/** Returns whether each page, API and command that judges says that all is well. */
async function judgements(parts: Planted['parts'] = {}) {
  const all = { ...services, ...parts };
  const operator = createContext(all, {
    kind: 'key',
    workspace_id: world.workspace_id,
    key_id: webhook_id,
    scopes: ['admin', 'operator'],
    mode: 'live',
    domains: null,
  });
  const [health, overview, instance] = await Promise.all([
    invoke(operator, getHealth, {}),
    invoke(operator, overviewSummary, {}),
    instanceStatus(all),
  ]);
  return { health, overview, instance };
}

it.each(Object.entries(problems))('health and Overview report %s, and nothing once it is fixed', async (_, planted) => {
  const { works = true, window_ms = 0 } = planted;
  await turn();
  await turn();
  expect((await judgements()).health.checks.filter(({ status }) => status !== 'ok')).toEqual([]);

  const result = await planted.plant();
  await turn(works);
  const during = await judgements(planted.parts);
  await planted.fix(result);
  await clock.advance(window_ms);
  // One turn, of 15 s.
  await turn();
  const after = await judgements();

  const reported = during.health.checks.filter(({ status }) => status !== 'ok');
  expect(reported.map(({ name }) => name).filter((name) => !planted.checks.includes(name))).toEqual([]);
  expect(reported.length).toBeGreaterThan(0);
  for (const { page, detail } of reported)
    expect([page, detail]).toEqual([expect.stringMatching(/^\//), expect.any(String)]);
  expect(during.health.status).not.toBe('ok');
  if (planted.instance) expect(during.instance).not.toBe('ok');
  expect(during.overview.problems.length).toBeGreaterThan(0);
  expect([after.health.status, after.instance, after.overview.problems]).toEqual(['ok', 'ok', []]);
});
