import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { previewBulk } from '../bulk/index.ts';
import { getCapture, listCaptures, recordCapture } from '../captures/index.ts';
import { recordReturned } from '../delivery/index.ts';
import { listEvents, readEvents, readTimelines } from '../events/index.ts';
import { findThings } from '../find/index.ts';
import {
  cancelMessage,
  getContent,
  getMessage,
  listMessages,
  listMessagesBackward,
  readLastAttempts,
  readMessages,
  resendMessage,
} from '../messages/index.ts';
import { AppError } from '../operation/errors.ts';
import { invoke } from '../operation/operation.ts';
import { createWebhook, getWebhookDelivery, listAllDeliveries } from '../webhooks/index.ts';
import { maintainStorage } from './maintain.ts';

const DAY_MS = 86_400_000;
const TABLES = ['messages', 'message_tags', 'bodies', 'recipients', 'attempts', 'transcripts', 'events'];

let world: World;
beforeEach(async () => {
  world = await createWorld({
    RETENTION_MESSAGES: '20d',
    RETENTION_BODIES: '5d',
    RETENTION_EVENTS: '10d',
    RETENTION_TRANSCRIPTS: '2d',
    RETENTION_CAPTURES: '3d',
    TRANSCRIPTS: 'all',
  });
  // A Wednesday in the middle of a month.
  await world.clock.freeze(new Date('2030-05-15T12:00:00Z'));
  await maintainStorage(world.services);
});
afterEach(() => world.stop());

const ctx = () => world.as(world.workspace_id);
const days = (count: number) => world.clock.advance(count * DAY_MS);

async function send(extra: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', tags: ['welcome'] };
  const { id } = await invoke(ctx(), sendMessage, { ...mail, ...extra });
  await world.drain();
  return id;
}

async function reasonOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'answered';
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

/** Records a recipient's complaint and returns the result. */
async function complain(message_id: string, email: string) {
  const [row] = await world.services.sql<{ id: string }[]>`
    select id from recipients where message_id = ${message_id} and email = ${email}`;
  const path = { message_id, recipient_end: row?.id.slice(-16) ?? '' };
  return recordReturned(world.services, path, { kind: 'complaint', feedback_type: 'abuse' });
}

const listed = async (filter: Readonly<Record<string, unknown>> = {}) =>
  (await invoke(ctx(), listMessages, filter)).data.map(({ id }) => id);
const listedBackward = async () => (await invoke(ctx(), listMessagesBackward, { last: 10 })).data.map(({ id }) => id);

/** Counts the rows of each table, in dated partitions and in the default one. */
async function rowsOf(): Promise<Record<string, readonly [number, number]>> {
  const counts: Record<string, readonly [number, number]> = {};
  for (const table of TABLES) {
    const { sql } = world.services;
    const [row] = await sql<{ timed: number; stray: number }[]>`
      select count(*) filter (where tableoid <> ${`${table}_default`}::text::regclass)::int as timed,
        count(*) filter (where tableoid = ${`${table}_default`}::text::regclass)::int as stray
      from ${sql(table)}`;
    counts[table] = [row?.timed ?? -1, row?.stray ?? -1];
  }
  return counts;
}
const all = (count: readonly [number, number]) => Object.fromEntries(TABLES.map((table) => [table, count]));

describe('expired data', () => {
  it('is reported as expired immediately: transcript, content, events and attempts, then the email', async () => {
    const id = await send();
    const [event] = (await invoke(ctx(), listEvents, {})).data;
    const attempt = (await invoke(ctx(), getMessage, { id })).attempts[0];
    expect(attempt?.transcript).toContain('250');

    await days(3);
    const [second] = (await invoke(ctx(), getMessage, { id })).attempts;
    expect(second).toEqual({ ...attempt, transcript: null });
    expect(await reasonOf(invoke(ctx(), getContent, { id }))).toBe('answered');

    await days(3);
    expect(await reasonOf(invoke(ctx(), getContent, { id }))).toBe('content_gone');
    expect(await reasonOf(invoke(ctx(), resendMessage, { id }))).toBe('content_gone');
    expect((await invoke(ctx(), getMessage, { id })).events).toHaveLength(2);

    await days(5);
    expect(await invoke(ctx(), getMessage, { id })).toMatchObject({ status: 'delivered', events: [], attempts: [] });
    expect((await invoke(ctx(), listEvents, {})).data).toEqual([]);
    expect(await invoke(ctx(), readEvents, { ids: [event?.id ?? ''] })).toEqual([null]);
    expect((await invoke(ctx(), readTimelines, { of: [{ id }] }))[0]?.data).toEqual([]);
    expect(await invoke(ctx(), readLastAttempts, { ids: [id] })).toEqual([[]]);
    expect(await listed()).toEqual([id]);

    await days(10);
    expect(await reasonOf(invoke(ctx(), getMessage, { id }))).toBe('message_not_found');
    expect(await reasonOf(invoke(ctx(), getContent, { id }))).toBe('message_not_found');
    expect(await reasonOf(invoke(ctx(), cancelMessage, { id }))).toBe('message_not_found');
    expect(await invoke(ctx(), readMessages, { ids: [id] })).toEqual([null]);
    expect([await listed(), await listed({ tag: 'welcome' }), await listedBackward()]).toEqual([[], [], []]);
    expect((await invoke(ctx(), findThings, { text: 'ada@example.com' })).data).toEqual([]);
    expect(await invoke(ctx(), previewBulk, { action: 'export', filter: {} })).toMatchObject({ matched: 0 });
    expect(await rowsOf()).toMatchObject({ messages: [1, 0], bodies: [1, 0], recipients: [1, 0] });
  });

  it('is dropped from disk together with its week or month', async () => {
    await send();
    expect(await rowsOf()).toMatchObject({ transcripts: [1, 0], bodies: [1, 0], attempts: [1, 0], messages: [1, 0] });

    // The week ends on May 20.
    await days(7.5);
    await maintainStorage(world.services);
    expect(await rowsOf()).toMatchObject({ transcripts: [0, 0], bodies: [1, 0] });
    await days(3);
    await maintainStorage(world.services);
    expect(await rowsOf()).toMatchObject({ bodies: [0, 0], attempts: [1, 0], events: [2, 0] });
    // The month ends on May 31.
    await days(17);
    await maintainStorage(world.services);
    expect(await rowsOf()).toMatchObject({ attempts: [0, 0], events: [0, 0], messages: [1, 0], message_tags: [1, 0] });
    await days(10);
    await maintainStorage(world.services);

    expect(await rowsOf()).toEqual(all([0, 0]));
    const [month] = await world.services.sql`select to_regclass('messages_203005')::text as name`;
    expect(month).toEqual({ name: null });
    const fresh = await send();
    expect(await listed()).toEqual([fresh]);
  });

  it('is also deleted from the default partition, along with captures and webhook deliveries', async () => {
    await invoke(ctx(), createWebhook, { url: 'http://127.0.0.1:9099/' });
    await world.clock.advance(-400 * DAY_MS);
    await send();
    const raw = Buffer.from('Subject: Seen\r\n\r\nHi');
    await recordCapture(
      world.services,
      { envelope_from: 'a@a.test', envelope_to: ['b@b.test'], raw },
      world.workspace_id,
    );
    const [capture] = (await invoke(ctx(), listCaptures, {})).data;
    const [delivery] = (await invoke(ctx(), listAllDeliveries, {})).data;
    expect(await rowsOf()).toMatchObject({ messages: [0, 1], bodies: [0, 1], transcripts: [0, 1] });

    await days(11);
    expect((await invoke(ctx(), listCaptures, {})).data).toEqual([]);
    expect(await reasonOf(invoke(ctx(), getCapture, { id: capture?.id ?? '' }))).toBe('capture_not_found');
    expect((await invoke(ctx(), listAllDeliveries, {})).data).toEqual([]);
    const delivery_ids = { id: delivery?.webhook_id ?? '', delivery_id: delivery?.id ?? '' };
    expect(await reasonOf(invoke(ctx(), getWebhookDelivery, delivery_ids))).toBe('delivery_not_found');

    await days(389);
    await maintainStorage(world.services);
    expect(await rowsOf()).toEqual(all([0, 0]));
  });
});

describe('email still open past its retention period', () => {
  it('is shown with its content and sent without retaining its month, and then expires', async () => {
    const closed = await send();
    const open = await send({ scheduled_at: '2030-08-01T00:00:00Z', to: ['ada@example.com', 'bob@example.com'] });
    await days(45);
    expect([await listed(), await listedBackward()]).toEqual([[open], [open]]);

    await maintainStorage(world.services);

    const moved: readonly [number, number] = [0, 1];
    expect(await rowsOf()).toEqual({
      ...all(moved),
      recipients: [0, 2],
      attempts: [0, 0],
      transcripts: [0, 0],
      events: [0, 0],
    });
    expect(await reasonOf(invoke(ctx(), getMessage, { id: closed }))).toBe('message_not_found');
    expect([await listed(), await listed({ status: 'scheduled' }), await listed({ tag: 'welcome' })]).toEqual([
      [open],
      [open],
      [open],
    ]);
    expect(await listed({ status: 'delivered' })).toEqual([]);
    expect(await invoke(ctx(), getMessage, { id: open })).toMatchObject({ status: 'scheduled', tags: ['welcome'] });
    expect(await invoke(ctx(), getContent, { id: open })).toMatchObject({ text: 'Hi' });
    expect(await invoke(ctx(), previewBulk, { action: 'cancel', filter: {} })).toMatchObject({ matched: 1 });

    const sent = world.smtp.messages.length;
    await world.clock.freeze(new Date('2030-08-01T00:00:01Z'));
    await maintainStorage(world.services);
    await world.drain();
    expect(
      world.smtp.messages
        .slice(sent)
        .flatMap(({ envelope_to }) => envelope_to)
        .toSorted(),
    ).toEqual(['ada@example.com', 'bob@example.com']);
    expect([await listed(), await reasonOf(invoke(ctx(), getMessage, { id: open }))]).toEqual([
      [],
      'message_not_found',
    ]);

    await maintainStorage(world.services);
    // New rows have an age of their own, regardless of the age of their message, which may still bounce.
    const happened = { attempts: [0, 2], transcripts: [0, 2], events: [3, 0] };
    expect(await rowsOf()).toEqual({ ...all([0, 0]), messages: [0, 1], recipients: [0, 2], ...happened });
    await days(1.9);
    expect(await complain(open, 'ada@example.com')).toEqual({ kind: 'complained' });
    await days(4.9);
    await maintainStorage(world.services);
    expect(await rowsOf()).toMatchObject({ messages: [0, 1], recipients: [0, 2] });

    await days(0.2);
    await maintainStorage(world.services);
    expect(await rowsOf()).toMatchObject({ messages: [0, 0], recipients: [0, 0] });
    expect(await complain(open, 'bob@example.com')).toMatchObject({ kind: 'ignored' });
  });

  it('can still bounce if it reaches a final state shortly before its monthly partition is dropped', async () => {
    const id = await send({ scheduled_at: '2030-06-20T11:00:00Z' });
    await send();
    await world.clock.freeze(new Date('2030-06-20T11:00:01Z'));
    await world.drain();
    await days(1);

    await maintainStorage(world.services);

    expect(await rowsOf()).toMatchObject({ messages: [0, 1], recipients: [0, 1] });
    expect(await complain(id, 'ada@example.com')).toEqual({ kind: 'complained' });
  });

  it('is listed behind newer email, one page at a time from either end', async () => {
    const scheduled_at = '2030-08-01T00:00:00Z';
    const old = [await send({ scheduled_at }), await send(), await send({ scheduled_at })];
    await days(30);
    const recent = [await send(), await send()];
    const expected = [...recent, ...[old[0] ?? '', old[2] ?? '']].toSorted().toReversed();

    const forward: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await invoke(ctx(), listMessages, { limit: 1, ...(cursor !== undefined && { cursor }) });
      forward.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    const backward: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page = await invoke(ctx(), listMessagesBackward, { last: 1, ...(before !== undefined && { before }) });
      backward.unshift(...page.data.map(({ id }) => id));
      before = page.next_cursor;
    }

    expect([forward, backward]).toEqual([expected, expected]);
  });
});

describe('a retention period set only for messages', () => {
  it('also applies to their events, attempts, transcripts and webhook deliveries', async () => {
    const default_world = await createWorld({ RETENTION_MESSAGES: '20d', TRANSCRIPTS: 'all' });
    try {
      await default_world.clock.freeze(new Date('2030-05-15T12:00:00Z'));
      const context = default_world.as(default_world.workspace_id);
      await invoke(context, createWebhook, { url: 'http://127.0.0.1:9099/' });
      await invoke(context, sendMessage, {
        from: 'hello@sandbox.test',
        to: 'ada@example.com',
        subject: 'Hello',
        text: 'Hi',
      });
      await default_world.drain();
      await default_world.clock.advance(19 * DAY_MS);
      const count = (await invoke(context, listEvents, {})).data.length;

      await default_world.clock.advance(2 * DAY_MS);
      const empty_lists = [await invoke(context, listEvents, {}), await invoke(context, listAllDeliveries, {})];
      await default_world.clock.advance(19 * DAY_MS);
      await maintainStorage(default_world.services);

      expect([count, ...empty_lists.map(({ data }) => data.length)]).toEqual([2, 0, 0]);
      for (const table of [...TABLES, 'webhook_attempts'])
        expect(await default_world.services.sql`select from ${default_world.services.sql(table)}`).toHaveLength(0);
    } finally {
      await default_world.stop();
    }
  });
});

describe('a configuration without retention settings', () => {
  it('keeps email indefinitely, and transcripts for thirty days', async () => {
    const default_world = await createWorld({ TRANSCRIPTS: 'all' });
    try {
      await default_world.clock.freeze(new Date('2030-05-15T12:00:00Z'));
      const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
      const { id } = await invoke(default_world.as(default_world.workspace_id), sendMessage, mail);
      await default_world.drain();
      await default_world.clock.advance(800 * DAY_MS);
      await maintainStorage(default_world.services);

      const email = await invoke(default_world.as(default_world.workspace_id), getMessage, { id });

      expect(email).toMatchObject({ status: 'delivered', attempts: [{ transcript: null }] });
      expect(email.events).toHaveLength(2);
      expect(await default_world.services.sql`select from transcripts`).toHaveLength(0);
    } finally {
      await default_world.stop();
    }
  });
});
