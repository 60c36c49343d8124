import type { SendOutcome } from '@postrider/mail';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { claimDeliveries, recordReturned, settleDeliveries } from '../delivery/index.ts';
import { listEvents } from '../events/index.ts';
import { cancelMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { createTransport, getTransportHealth } from '../transports/index.ts';
import { rollUpStats } from './roll-up.ts';
import { countMetrics, type Stats, statSeries } from './stat-series.ts';

const MINUTE_MS = 60_000;
const MINUTES = 8;
const EMAILS_PER_MINUTE = 6;
const CLAIM = 50;

const world = await openWorld({ RETRY_SCHEDULE: '1m,1m', DELIVERY: 'smtp://127.0.0.1:2525' });
await world.domain('shop.example');
const ctx = world.as(world.workspace_id);

let seed = 7;
/** Returns a number below a bound. */
function below(bound: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % bound;
}

const replies = {
  accepted: { code: 250, enhanced: '2.0.0', text: 'Ok' },
  deferred: { code: 451, enhanced: '4.3.0', text: 'Later' },
  rejected: { code: 550, enhanced: '5.1.1', text: 'Unknown' },
} as const;

function outcomeOf(kind: keyof typeof replies): SendOutcome {
  const phases_ms = { connect: 0, tls: 0, mail: 0, data: 0 };
  const server = { error: null, target: 'mx', address: null, tls_policy: null, tls: null, transcript: '' };
  return { kind, reply: replies[kind], stage: kind === 'accepted' ? 'after_dot' : 'rcpt', phases_ms, ...server };
}

interface Delivered {
  readonly message_id: string;
  readonly recipient_id: string;
  readonly key: string;
}

/** Sends and cancels email, and settles every due attempt under a random transport. */
async function runMinute(transports: readonly (string | null)[], minute: number): Promise<Delivered[]> {
  for (let index = 0; index < EMAILS_PER_MINUTE; index++) {
    const to = Array.from({ length: 1 + below(3) }, (_, place) => `p${minute}-${index}-${place}@example.com`);
    const scheduled_at = new Date(world.clock.now() + 60 * MINUTE_MS).toISOString();
    const is_canceled = below(6) === 0;
    const email = {
      from: 'hello@shop.example',
      to,
      subject: 'Hello',
      text: 'Hi',
      ...(is_canceled && { scheduled_at }),
    };
    const { id } = await invoke(ctx, sendMessage, email);
    if (is_canceled) await invoke(ctx, cancelMessage, { id });
  }
  const claimed = await claimDeliveries(world.services, await world.services.jobs.fetch('delivery.attempt', CLAIM));
  const results = claimed.map((one) => {
    const kind = (['accepted', 'accepted', 'deferred', 'rejected'] as const)[below(4)] ?? 'accepted';
    const transport_id = transports[below(transports.length)] ?? null;
    return {
      claimed: one,
      outcome: outcomeOf(kind),
      duration_ms: 1,
      handed_back: false,
      transport_id,
      transport_label: transport_id ?? undefined,
    };
  });
  await settleDeliveries(world.services, results);
  return results.flatMap(({ claimed: { delivery }, outcome, transport_id }) =>
    outcome.kind === 'accepted' ? [{ ...delivery, key: transport_id ?? 'default' }] : [],
  );
}

const series = (bucket: string, group_by: string): Promise<Stats> =>
  invoke(ctx, statSeries, {
    since: new Date(start_ms).toISOString(),
    bucket,
    metrics: [...countMetrics],
    group_by,
    reach: 'workspace',
  });

/** Returns the values of each metric by time, added up over the keys. */
function sums(stats: Stats): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { metric, points } of stats.series)
    for (const { at, value } of points) total[`${metric} ${at}`] = (total[`${metric} ${at}`] ?? 0) + (value ?? 0);
  return total;
}

/** Returns the total of each metric of a key, without zeros. */
function totals(stats: Stats, key: string | null): Record<string, number> {
  const lines = stats.series.filter((one) => one.key === key);
  const entries = lines.map(({ metric, points }) => [metric, points.reduce((sum, { value }) => sum + (value ?? 0), 0)]);
  return Object.fromEntries(entries.filter(([, total]) => total !== 0));
}

let start_ms = 0;

/** Returns the attempts that the metrics of this process count, by transport and outcome. */
const meteredAttempts = () =>
  world.services.metrics
    .read()
    .flatMap(({ name, points }) => (name === 'transport_attempts_total' ? points : []))
    .map(({ labels: [key, outcome], value }) => ({ key, outcome, count: value }));

it('statistics by transport add up to those of all email, and like the metrics count each event under the transport of its attempt', async () => {
  start_ms = Math.ceil(world.clock.now() / (60 * MINUTE_MS)) * 60 * MINUTE_MS;
  await world.clock.freeze(new Date(start_ms));
  const computed_until = new Date(start_ms);
  await world.services.sql`update roll_ups set early_until = ${computed_until}, final_until = ${computed_until}`;
  const transports: (string | null)[] = [null];
  for (const name of ['First', 'Second']) {
    const relay = { name, kind: 'smtp', host: 'relay.example.com' };
    transports.push((await invoke(ctx, createTransport, relay)).id);
  }
  const complained: Record<string, number> = {};

  for (let minute = 0; minute < MINUTES; minute++) {
    for (const { message_id, recipient_id, key } of await runMinute(transports, minute)) {
      if (below(4) > 0) continue;
      const path = { message_id, recipient_end: recipient_id.slice(-16) };
      const report = { kind: 'complaint', feedback_type: 'abuse' } as const;
      expect(await recordReturned(world.services, path, report)).toEqual({ kind: 'complained' });
      complained[key] = (complained[key] ?? 0) + 1;
    }
    await world.clock.advance(MINUTE_MS + 1000);
  }
  await world.clock.advance(2 * MINUTE_MS);
  await rollUpStats(world.services);

  for (const bucket of ['minute', 'hour', 'day'])
    expect(sums(await series(bucket, 'transport'))).toEqual(sums(await series(bucket, 'none')));
  const grouped = await series('hour', 'transport');
  const attempts = await world.services.sql<{ key: string; outcome: string; count: number }[]>`
    select coalesce(id_text(transport_id), 'default') as key, outcome, count(*)::int from attempts group by 1, 2`;
  expect(meteredAttempts()).toHaveLength(attempts.length);
  expect(meteredAttempts()).toEqual(expect.arrayContaining([...attempts]));
  for (const key of transports.map((id) => id ?? 'default')) {
    const countOf = (outcome: string) => attempts.find((row) => row.key === key && row.outcome === outcome)?.count;
    const counts = totals(grouped, key);
    expect(counts).toMatchObject({ delivered: countOf('accepted'), bounced: countOf('rejected') });
    expect((counts.deferred ?? 0) + (counts.failed ?? 0)).toBe(countOf('deferred'));
    expect(counts.complained).toBe(complained[key]);
    expect(counts.accepted).toBeUndefined();
  }
  expect(Object.keys(totals(grouped, null)).toSorted()).toEqual(['accepted', 'canceled']);
  const health = await invoke(ctx, getTransportHealth, {});
  for (const { transport_id, delivered_today } of health.data)
    expect(delivered_today).toBe(totals(grouped, transport_id).delivered);
  const { data } = await invoke(ctx, listEvents, { type: 'email.bounced', limit: 100 });
  const ids = new Set(data.map((event) => event.data.transport_id ?? null));
  expect(ids).toEqual(new Set(transports));
});
