import { emptyTables, startWebhookSink, type WebhookSink, watchPlans } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoke } from '../../operation/operation.ts';
import { listWebhookDeliveries } from '../deliveries/list-deliveries.ts';
import { replayWebhookDelivery } from '../deliveries/replay-delivery.ts';
import { createWebhook } from './create-webhook.ts';
import { readWebhookQuality } from './read-quality.ts';
import { testWebhook } from './test-webhook.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GROWN = 20_000;
const MAX_ATTEMPTS = 1000;

const world = await openWorld();
let sink: WebhookSink;
beforeAll(async () => {
  sink = await startWebhookSink({ now: world.clock.now });
});
afterAll(() => sink.stop());

async function home() {
  const { workspace_id } = await world.workspace('business');
  const ctx = world.as(workspace_id);
  const { id } = await invoke(ctx, createWebhook, { url: `${sink.url}/${workspace_id}` });
  const quality = async () => (await invoke(ctx, readWebhookQuality, { ids: [id] }))[0];
  return { ctx, id, quality };
}

/** Adds deliveries of an endpoint that are newer than all others: delivered, or pending and never attempted. */
async function addDeliveries(webhook_id: string, state: 'pending' | 'delivered', count: number): Promise<void> {
  const { sql } = world.services;
  const attempt =
    state === 'pending'
      ? sql`'attempt_count', 0, 'last_attempt_at', null`
      : sql`'attempt_count', 1, 'last_attempt_at', clock_now(), 'duration_ms', 7, 'response_status', 200`;
  await sql`
    insert into webhook_deliveries select copy.* from (
      select * from webhook_deliveries where webhook_id = ${webhook_id} order by id desc limit 1
    ) d, generate_series(1, ${count}) n, jsonb_populate_record(null::webhook_deliveries, to_jsonb(d) || jsonb_build_object(
      'id', derived_id('whd', id_floor(clock_now() + make_interval(mins => ${state === 'pending' ? 1 : 2})), d.id::text || n::text), 'state', ${state}::text,
      'lease_until', null, 'next_attempt_at', clock_now(), ${attempt})) copy`;
}

describe('the quality of a webhook', () => {
  it('counts the attempts of the last day, each once, including those before a replay', async () => {
    const { ctx, id, quality } = await home();
    expect(await quality()).toEqual({
      webhook_id: id,
      attempts: 0,
      success_rate: null,
      p95_ms: null,
      is_limited: false,
    });
    sink.script(() => ({ kind: 'reply', status: 503 }));
    await invoke(ctx, testWebhook, { id });
    await world.postWebhooks();
    sink.script(() => ({ kind: 'reply', status: 200 }));
    await world.clock.advance(MINUTE_MS);
    await invoke(ctx, testWebhook, { id });
    await world.postWebhooks();
    const first = await quality();
    const [newest] = (await invoke(ctx, listWebhookDeliveries, { id })).data;

    await world.clock.advance(MINUTE_MS);
    await invoke(ctx, replayWebhookDelivery, { id, delivery_id: newest?.id ?? '' });
    await world.postWebhooks();

    expect(first).toMatchObject({ attempts: 3, success_rate: 2 / 3, p95_ms: expect.any(Number) });
    expect(await quality()).toMatchObject({ attempts: 4, success_rate: 3 / 4 });
    await world.clock.advance(DAY_MS);
    expect(await quality()).toMatchObject({ attempts: 0, success_rate: null, p95_ms: null });
  });

  it('counts failed attempts behind a backlog that has not been attempted', async () => {
    const { ctx, id, quality } = await home();
    sink.script(() => ({ kind: 'reply', status: 503 }));
    await invoke(ctx, testWebhook, { id });
    await world.postWebhooks();

    await addDeliveries(id, 'pending', 2 * MAX_ATTEMPTS);

    expect(await quality()).toMatchObject({ attempts: 1, success_rate: 0 });
  });

  it('is null for a webhook of another workspace', async () => {
    const { id } = await home();
    const other = await home();

    expect(await invoke(other.ctx, readWebhookQuality, { ids: [id, other.id] })).toMatchObject([
      null,
      { webhook_id: other.id },
    ]);
  });

  it.each(emptyTables)('is read by index, however many deliveries there are, %s', async (state) => {
    const { ctx, id } = await home();
    await invoke(ctx, testWebhook, { id });
    const plans = watchPlans(world.database_url, ['webhook_deliveries', 'webhook_attempts']);
    await plans.keepEmpty(state);
    const own = { ...ctx, sql: plans.sql };
    await invoke(own, readWebhookQuality, { ids: [id] });
    await addDeliveries(id, 'pending', GROWN);
    await addDeliveries(id, 'delivered', GROWN);
    const before = await plans.rowsRead();

    const [quality] = await invoke(own, readWebhookQuality, { ids: [id] });

    expect(quality).toEqual({ webhook_id: id, attempts: MAX_ATTEMPTS, success_rate: 1, p95_ms: 7, is_limited: true });
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 2);
    await plans.stop();
  });
});
