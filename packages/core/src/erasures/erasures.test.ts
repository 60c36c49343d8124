import { createWorld, startWebhookSink, type WebhookSink, type World, watchPlans } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { previewBulk, runBulk, workOff } from '../bulk/index.ts';
import { recordCapture } from '../captures/index.ts';
import { rollUpFailures } from '../failures/index.ts';
import { getContent, getMessage, listMessages } from '../messages/index.ts';
import { AppError } from '../operation/errors.ts';
import { invoke } from '../operation/operation.ts';
import { rollUpStats } from '../stats/index.ts';
import { createSuppressions, listSuppressions } from '../suppressions/index.ts';
import { createWebhook } from '../webhooks/index.ts';
import { runErasure } from './run-erasure.ts';
import { getErasure, MAX_OPEN_ERASURES, startErasure } from './start-erasure.ts';

const ADA = 'Ada.Lovelace@example.com';

let world: World;
let sink: WebhookSink;
beforeEach(async () => {
  world = await createWorld({ TRANSCRIPTS: 'all' });
  sink = await startWebhookSink();
});
afterEach(async () => {
  await sink.stop();
  await world.stop();
});

const ctx = () => world.as(world.workspace_id);

async function send(extra: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: `Ada <${ADA}>`, subject: 'Hello', text: `Hi ${ADA}` };
  return (await invoke(ctx(), sendMessage, { ...mail, ...extra })).id;
}

async function erase(email = ADA) {
  const { id } = await invoke(ctx(), startErasure, { email });
  await runErasure(world.services, { erasure_id: id });
  return invoke(ctx(), getErasure, { id });
}

/** Returns the tables of the database, including those of the queue, that contain a text in any row. */
async function tablesWith(text: string): Promise<string[]> {
  const { sql } = world.services;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition order by 1`;
  const matches: string[] = [];
  for (const { name } of tables) {
    const rows = await sql`
      select from ${sql.unsafe(name)} t where position(lower(${text}) in lower(t::text)) > 0
        or position(encode(convert_to(${text}, 'UTF8'), 'hex') in t::text) > 0 limit 1`;
    if (rows.length > 0) matches.push(name);
  }
  return matches;
}

describe('an erasure', () => {
  it('removes the address from the entire database, and counts its changes', async () => {
    await invoke(ctx(), createWebhook, { url: `${sink.url}/hook` });
    sink.script(() => ({ kind: 'reply', status: 500, body: `no ${ADA} here` }));
    const delivered = await send({
      subject: `For ${ADA}`,
      tags: ['welcome', `to ${ADA}`],
      metadata: { who: ADA },
      reply_to: ADA,
    });
    await world.drain();
    world.smtp.script(({ stage, to }) =>
      stage === 'rcpt'
        ? { kind: 'reply', at: 'rcpt', code: 550, text: `5.1.1 <${to}> is unknown here` }
        : { kind: 'accept' },
    );
    const bounced = await send();
    await world.drain();
    await world.postWebhooks();
    await invoke(ctx(), sendMessage, {
      from: 'hello@sandbox.test',
      to: 'bob@example.com',
      reply_to: ADA,
      subject: 'Hi',
      text: 'Hi',
      metadata: { lines: `To\n${ADA}\t${ADA}\r${ADA}\u001f${ADA}` },
    });
    const raw = Buffer.from(`To: ${ADA}\r\nSubject: Seen\r\n\r\nHi`);
    await recordCapture(world.services, { envelope_from: 'a@a.test', envelope_to: [ADA], raw }, world.workspace_id);
    await world.services.sql`
      insert into idempotency_keys (workspace_id, operation, key, fingerprint, answer, expires_at)
      values (${world.workspace_id}, 'email.send', 'key', '', ${`{"to":"${ADA}"}`}, clock_now() + interval '1 hour')`;
    const preview = await invoke(ctx(), previewBulk, { action: 'export', filter: { to: ADA } });
    const bulk = await invoke(ctx(), runBulk, { token: preview.token, reason: `wanted by ${ADA}` });
    await workOff(world.services, { bulk_id: bulk.id, turn: 0 });
    await world.clock.advance(300_000);
    await rollUpStats(world.services);
    await rollUpFailures(world.services);
    expect(await tablesWith(ADA)).toEqual(
      expect.arrayContaining([
        'public.messages',
        'public.recipients',
        'public.bodies',
        'public.events',
        'public.attempts',
        'public.transcripts',
        'public.captures',
        'public.suppressions',
        'public.idempotency_keys',
        'public.webhook_deliveries',
        'public.bulk_operations',
        'public.tags',
      ]),
    );

    const receipt = await erase();

    expect(await tablesWith(ADA)).toEqual([]);
    expect(receipt).toMatchObject({
      status: 'completed',
      counts: {
        recipients: 2,
        canceled: 0,
        bodies: 2,
        bodies_kept: 0,
        captures: 1,
        idempotency_keys: 1,
        suppressions: 1,
      },
    });
    for (const kind of ['messages', 'attempts', 'transcripts', 'events', 'webhook_deliveries', 'other_rows'] as const)
      expect(receipt.counts[kind], kind).toBeGreaterThan(0);
    expect(JSON.stringify(receipt).toLowerCase()).not.toContain('lovelace');
    expect(await invoke(ctx(), getMessage, { id: delivered })).toMatchObject({
      status: 'delivered',
      to: ['erased@erased.invalid'],
      reply_to: 'erased@erased.invalid',
      subject: '',
      tags: ['welcome'],
      recipients: [{ email: 'erased@erased.invalid', status: 'delivered' }],
    });
    await expect(invoke(ctx(), getContent, { id: bounced })).rejects.toThrow(AppError);
  });

  it('keeps a body also sent to other recipients until all of them are erased', async () => {
    const id = await send({ to: [ADA, 'bob@example.com'], text: 'Hi both' });
    await world.drain();

    expect((await erase()).counts).toMatchObject({ recipients: 1, bodies: 0, bodies_kept: 1 });
    expect(await invoke(ctx(), getContent, { id })).toMatchObject({ text: 'Hi both' });
    expect((await invoke(ctx(), getMessage, { id })).to).toEqual(['erased@erased.invalid', 'bob@example.com']);

    expect((await erase('bob@example.com')).counts).toMatchObject({ recipients: 1, bodies: 1, bodies_kept: 0 });
    expect(await world.services.sql`select from bodies`).toHaveLength(0);
  });

  it('cancels email still to be sent to the address, but not email to others', async () => {
    const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const id = await send({ to: [ADA, 'bob@example.com'], scheduled_at });

    expect((await erase()).counts).toMatchObject({ recipients: 1, canceled: 1 });

    await world.clock.advance(3_700_000);
    await world.drain();
    expect(world.smtp.messages.flatMap(({ envelope_to }) => envelope_to)).toEqual(['bob@example.com']);
    const { recipients } = await invoke(ctx(), getMessage, { id });
    expect(recipients.map(({ email, status }) => [email, status]).toSorted()).toEqual([
      ['bob@example.com', 'delivered'],
      ['erased@erased.invalid', 'canceled'],
    ]);
  });

  it('keeps a suppression in force as a hash, even for other spellings and after a restart', async () => {
    await invoke(ctx(), createSuppressions, { email: ADA, reason: 'asked by phone' });
    expect((await erase()).counts).toMatchObject({ suppressions: 1 });
    const [suppression] = (await invoke(ctx(), listSuppressions, {})).data;
    expect(suppression).toMatchObject({ source: 'manual', reason: null });
    expect(suppression?.email).toMatch(/^[0-9a-f]{40}@erased\.invalid$/);

    const id = await send({ to: ADA.toUpperCase().replace('EXAMPLE.COM', 'example.com') });
    const other = await send({ to: 'bob@example.com' });
    await world.drain();

    expect(world.smtp.messages.flatMap(({ envelope_to }) => envelope_to)).toEqual(['bob@example.com']);
    expect(await invoke(ctx(), getMessage, { id })).toMatchObject({
      status: 'suppressed',
      recipients: [{ status: 'suppressed', attempts: 0 }],
    });
    expect(await invoke(ctx(), getMessage, { id: other })).toMatchObject({ status: 'delivered' });
  });

  it('does not affect longer addresses or other workspaces, and can be repeated', async () => {
    const longer = await send({ to: `m.${ADA}`, text: 'Hi' });
    const domain = await send({ to: `${ADA}.au`, text: 'Hi' });
    const other = await world.workspace('free');
    await world.domain('other.test', other.workspace_id);
    const foreign = await invoke(world.as(other.workspace_id), sendMessage, {
      from: 'hello@other.test',
      to: ADA,
      subject: 'Hello',
      text: 'Hi',
    });
    await send();
    await world.drain();

    const receipt = await erase();
    await runErasure(world.services, { erasure_id: receipt.id });

    expect(receipt.counts).toMatchObject({ recipients: 1, bodies: 1 });
    expect(await invoke(ctx(), getErasure, { id: receipt.id })).toEqual(receipt);
    expect((await invoke(ctx(), getMessage, { id: longer })).to).toEqual([`m.${ADA}`]);
    expect((await invoke(ctx(), getMessage, { id: domain })).to).toEqual([`${ADA}.au`]);
    expect((await invoke(world.as(other.workspace_id), getMessage, { id: foreign.id })).to).toEqual([ADA]);
    expect((await invoke(ctx(), listMessages, { to: ADA })).data).toEqual([]);
    await expect(invoke(world.as(other.workspace_id), getErasure, { id: receipt.id })).rejects.toThrow('No erasure');
  });
});

it('the placeholder for an erased address cannot be erased', async () => {
  await send();
  await erase();

  await expect(invoke(ctx(), startErasure, { email: 'Erased@erased.invalid' })).rejects.toMatchObject({
    reason: 'invalid_email',
  });
});

describe('pending erasures', () => {
  const startMany = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => invoke(ctx(), startErasure, { email: `a${n}@example.com` })));

  it('fairness N4: alternate between workspaces, however many one workspace has started', async () => {
    const greedy = await startMany(MAX_OPEN_ERASURES);
    const other = world.as((await world.workspace('free')).workspace_id);
    const { id } = await invoke(other, startErasure, { email: ADA });

    const [first, second] = greedy.map((erasure) => erasure.id).toSorted();
    for (const erasure_id of [first, second]) await runErasure(world.services, { erasure_id: erasure_id ?? '' });

    expect((await invoke(other, getErasure, { id })).status).toBe('completed');
    const rows = await world.services.sql`select from erasures where status = 'queued'`;
    expect(rows).toHaveLength(MAX_OPEN_ERASURES - 2);
  });

  it('fairness N4: are limited per workspace, and rejected erasures are counted', async () => {
    await startMany(MAX_OPEN_ERASURES);

    await expect(invoke(ctx(), startErasure, { email: ADA })).rejects.toMatchObject({ reason: 'erasure_limit' });

    expect(await world.services.sql`select from erasures`).toHaveLength(MAX_OPEN_ERASURES);
    const rejected = world.services.metrics.read().find(({ name }) => name === 'share_rejected_total');
    expect(rejected?.points).toContainEqual({ labels: ['erasures', 'full'], value: 1 });
    const other = world.as((await world.workspace('free')).workspace_id);
    expect((await invoke(other, startErasure, { email: ADA })).status).toBe('queued');
  });

  it('fairness N4: are limited to one per address, which restarts if requested again', async () => {
    const { id } = await invoke(ctx(), startErasure, { email: ADA });
    const { sql } = world.services;
    await sql`update erasures set status = 'running', step = 'requests'`;
    await send();
    await world.drain();

    expect(await invoke(ctx(), startErasure, { email: ADA.toUpperCase() })).toMatchObject({ id, status: 'running' });

    await runErasure(world.services, { erasure_id: id });
    expect((await invoke(ctx(), getErasure, { id })).counts).toMatchObject({ recipients: 1 });
    expect(await sql`select from audit_log where action = 'erasure.started'`).toHaveLength(1);
  });

  it('fairness N4: read no deliveries, events or captures belonging to other workspaces', async () => {
    const { workspace_id } = await world.workspace('free');
    await world.services.sql`
      insert into webhook_deliveries
        (workspace_id, id, webhook_id, event_id, event_type, state, next_attempt_at, created_at)
      select ${workspace_id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'email.queued', 'failed',
        clock_now(), clock_now()
      from generate_series(1, 5000)`;
    await world.services.sql`
      insert into captures (workspace_id, id, envelope_from, envelope_to, subject, raw, size_bytes, received_at)
      select ${workspace_id}, gen_random_uuid(), '', '{}', '', '', 0, clock_now() from generate_series(1, 5000)`;
    const { id } = await invoke(ctx(), startErasure, { email: ADA });
    const plans = watchPlans(world.database_url, ['webhook_deliveries', 'events', 'captures']);
    try {
      const before = await plans.rowsRead();

      await runErasure({ ...world.services, sql: plans.sql }, { erasure_id: id });

      expect((await plans.rowsRead()) - before).toBeLessThan(1000);
    } finally {
      await plans.stop();
    }
  });

  it('fairness N4: yield their turn to other erasures if they fail', async () => {
    const broken = await invoke(ctx(), startErasure, { email: ADA });
    const other = world.as((await world.workspace('free')).workspace_id);
    const { id } = await invoke(other, startErasure, { email: ADA });
    await world.services.sql`update erasures set counts = 'no JSON' where id = ${broken.id}`;

    await runErasure(world.services, { erasure_id: id });

    expect((await invoke(other, getErasure, { id })).status).toBe('completed');
    await world.services.sql`update erasures set due_at = null`;
    await expect(runErasure(world.services, { erasure_id: broken.id })).rejects.toThrow('JSON');
  });
});
