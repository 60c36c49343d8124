import { tmpdir } from 'node:os';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { invoke } from '../operation/operation.ts';
import { daysUntilFull, messageTables } from './get-storage.ts';
import { getRetention, getStorage } from './index.ts';

const world = await openWorld({ DATA_DIR: tmpdir(), RETENTION_BODIES: '14d', RETENTION_EVENTS: '90d' });
const ctx = () => world.as(world.workspace_id);

const send = () =>
  invoke(ctx(), sendMessage, { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' });

describe('the storage report', () => {
  it('shows every table’s size in bytes, including partitions, and each retention period', async () => {
    await send();
    await world.drain();

    const storage = await invoke(ctx(), getStorage, {});

    const table = (name: string) => storage.tables.find((one) => one.name === name);
    expect(table('bodies')).toMatchObject({ kept: 'age', kept_seconds: 14 * 86_400, setting: 'RETENTION_BODIES' });
    expect(table('webhook_deliveries')).toMatchObject({ kept: 'age', kept_seconds: 90 * 86_400 });
    expect(table('messages')).toMatchObject({ kept: 'always', kept_seconds: null, setting: 'RETENTION_MESSAGES' });
    expect(table('audit_log')).toMatchObject({ kept: 'always', setting: null });
    expect(table('lanes')).toMatchObject({ kept: 'trimmed', partitions: 0 });
    expect(table('messages')?.partitions).toBeGreaterThan(1);
    expect(table('messages')?.bytes).toBeGreaterThan(table('messages')?.index_bytes ?? 0);
    const bytes = storage.tables.map((one) => one.bytes);
    expect(bytes).toEqual(bytes.toSorted((one, other) => other - one));
    expect(storage.database_bytes).toBeGreaterThan(bytes.reduce((sum, one) => sum + one, 0));
  });

  it('assumes a typical email size while there are few emails', async () => {
    const storage = await invoke(ctx(), getStorage, {});

    expect(storage).toMatchObject({ bytes_per_message: 4882, measured: false });
    expect(storage.disk?.total_bytes).toBeGreaterThan(storage.disk?.free_bytes ?? 0);
  });

  it('divides the size of jobs and all time-partitioned tables by the number of emails', async () => {
    const parents = await world.services.sql<{ parent: string }[]>`select parent from partitioned_tables`;
    const names = (await invoke(ctx(), getStorage, {})).tables.map(({ name }) => name);

    expect([...messageTables].toSorted()).toEqual([...parents.map(({ parent }) => parent), 'pgboss'].toSorted());
    expect(names).toEqual(expect.arrayContaining([...messageTables]));
  });

  it('counts emails per day, not recipients', async () => {
    const { sql } = world.services;
    await invoke(ctx(), sendMessage, {
      from: 'hello@sandbox.test',
      to: ['bob@example.com', 'carol@example.com', 'dave@example.com'],
      subject: 'Hello',
      text: 'Hi',
    });
    await sql`analyze messages`;
    await sql`analyze recipients`;
    await sql`delete from stat_hours`;
    await sql`
      insert into stat_hours (
        workspace_id, dimension, at, key, accepted, delivered, bounced, deferred, failed, complained, suppressed, canceled
      ) values (${INSTANCE}, 'none', clock_now() - interval '1 day', '', 28, 0, 0, 0, 0, 0, 0, 0)`;

    expect(await invoke(ctx(), getStorage, {})).toMatchObject({ messages: 2, messages_per_day: 2 });
  });
});

describe('the estimate of days until the disk is full', () => {
  const disk = { free_bytes: 1e9, total_bytes: 2e9 };
  const forever = { kept_days: null, message_bytes: 1e9 };

  it.each([
    ['at this rate', disk, 1e7, forever, 100],
    ['which comes before the oldest is dropped', disk, 1e8, { kept_days: 120, message_bytes: 1e9 }, 10],
    [
      'which comes although mail is dropped already, as more arrives than did',
      disk,
      1e8,
      { kept_days: 30, message_bytes: 3e8 },
      10,
    ],
    ['never, because the email of that period fits', disk, 1e7, { kept_days: 120, message_bytes: 3e8 }, null],
    ['never, because as much is dropped as arrives', disk, 1e9, { kept_days: 30, message_bytes: 30e9 }, null],
    ['never, as nothing is accepted', disk, 0, forever, null],
    ['unknown, as the disk is another machine’s', null, 1e7, forever, null],
  ] as const)('%s', (_, free, per_day, facts, days) => {
    expect(daysUntilFull(free, per_day, facts)).toBe(days);
  });
});

describe('the reported retention period', () => {
  it('is the effective one, never longer than the retention period of the email', async () => {
    const retention = await invoke(ctx(), getRetention, {});

    expect(Object.fromEntries(retention.kinds.map(({ kind, kept_seconds }) => [kind, kept_seconds]))).toEqual({
      messages: null,
      bodies: 14 * 86_400,
      events: 90 * 86_400,
      transcripts: 30 * 86_400,
      captures: 7 * 86_400,
      requests: 7 * 86_400,
    });
    expect(retention).toMatchObject({ captured_bytes: 268_435_456, delivery: ['capture'], request_log: true });
  });
});
