import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { keptSeconds, type RetentionKind } from '../operation/retention.ts';
import type { Config } from '../process/config.ts';
import { type Disk, diskOf, TYPICAL_MESSAGE_BYTES } from './disk.ts';
import { ageSettings } from './get-retention.ts';
import { agedTables } from './retention-store.ts';
import { recipientRate, type TableSize, tableSizes } from './sizes-store.ts';

export const tableKeeping = ['age', 'always', 'trimmed'] as const;

const DAY_S = 86_400;
/** Below this many messages, half-empty pages and empty partitions take more space than the messages. */
const MIN_MEASURED_MESSAGES = 1000;

/** The tables that every message adds to: all that are partitioned by time, and the jobs. */
export const messageTables: ReadonlySet<string> = new Set([
  'messages',
  'message_tags',
  'bodies',
  'recipients',
  'attempts',
  'transcripts',
  'events',
  'captures',
  'webhook_deliveries',
  'webhook_attempts',
  'pgboss',
]);
/** Tables whose retention period is configurable. */
const aged: Readonly<Record<string, RetentionKind>> = {
  ...agedTables,
  webhook_deliveries: 'events',
  webhook_attempts: 'events',
  requests: 'requests',
};
/** Tables that grow with the activity of people and programs, and from which nothing is ever deleted by age. */
const permanent: ReadonlySet<string> = new Set(['audit_log', 'erasures', 'bulk_operations', 'usage_months', 'tags']);

const tableSchema = z
  .object({
    name: z.string(),
    bytes: z.number().meta({ description: 'Including indexes and all partitions.' }),
    index_bytes: z.number(),
    rows: z.number().nullable().meta({ description: 'The latest planner estimate; null: none yet.' }),
    partitions: z.int().meta({ description: '0 where it has none.' }),
    kept: z.enum(tableKeeping).meta({
      description: 'age: for kept_seconds. always: never deleted by age. trimmed: small, or has its own limit.',
    }),
    kept_seconds: z.int().nullable(),
    setting: z.string().nullable().meta({ description: 'The environment variable that sets its retention.' }),
  })
  .meta({ id: 'StorageTable' });
type TableView = z.output<typeof tableSchema>;

const storageSchema = z
  .object({
    object: objectName('storage'),
    database_bytes: z.number(),
    disk: z
      .object({ free_bytes: z.number(), total_bytes: z.number() })
      .nullable()
      .meta({ description: 'Null where the database is another server, whose disk cannot be seen from here.' }),
    messages: z.number().nullable().meta({ description: 'Estimated number stored; null: not counted yet.' }),
    bytes_per_message: z.number(),
    measured: z.boolean().meta({
      description: `Whether bytes_per_message was measured here. Below ${MIN_MEASURED_MESSAGES} emails, a typical size is used.`,
    }),
    messages_per_day: z.number().meta({
      description: 'Accepted recipients in the last seven days, divided by the recipients per stored email.',
    }),
    days_until_full: z.number().nullable().meta({
      description:
        'At this rate; null where retention frees the disk before, where nothing is accepted, or without a disk.',
    }),
    tables: z.array(tableSchema).readonly().meta({ description: 'The largest first.' }),
    checked_at: timeField,
  })
  .meta({ id: 'Storage' });
export type StorageView = z.output<typeof storageSchema>;

/**
 * Returns the size of the stored data, how fast it grows, and which tables are kept indefinitely. Row counts are
 * estimates; no table is read.
 */
export const getStorage = operation({
  name: 'storage.get',
  scope: 'operator',
  summary: 'Size per table and per email, days until the disk is full, and data kept indefinitely',
  input: z.object({}),
  output: storageSchema,
  async run({ sql, config, clock }): Promise<StorageView> {
    const { tables, ...growth } = await growthOf(sql, config);
    return {
      object: 'storage',
      ...growth,
      tables: tables.map((table) => tableView(table, (kind) => keptSeconds({ config }, kind))),
      checked_at: isoTime(new Date(clock.now())),
    };
  },
});

/** Returns how much space a message takes, how many arrive, and how long the disk will last. */
export async function growthOf(sql: Sql, config: Config) {
  const [{ tables, database_bytes }, recipients_per_day, disk] = await Promise.all([
    tableSizes(sql),
    recipientRate(sql),
    diskOf(config),
  ]);
  const rowsOf = (table: string) => tables.find(({ name }) => name === table)?.rows ?? null;
  const messages = rowsOf('messages');
  const message_bytes = tables.reduce((sum, { name, bytes }) => sum + (messageTables.has(name) ? bytes : 0), 0);
  const measured = messages !== null && messages >= MIN_MEASURED_MESSAGES;
  const bytes_per_message = measured ? Math.round(message_bytes / messages) : TYPICAL_MESSAGE_BYTES;
  // Both row counts are planner estimates, which differ slightly even if each message has one recipient.
  const messages_per_recipient = Math.min(1, (messages || 1) / (rowsOf('recipients') || 1));
  const messages_per_day = recipients_per_day * messages_per_recipient;
  const kept_seconds = keptSeconds({ config }, 'messages');
  const days_until_full = daysUntilFull(disk, bytes_per_message * messages_per_day, {
    kept_days: kept_seconds === null ? null : kept_seconds / DAY_S,
    message_bytes,
  });
  return { database_bytes, disk, messages, bytes_per_message, measured, messages_per_day, days_until_full, tables };
}

/**
 * Returns the number of days until the disk is full; null for never. With a retention period, storage grows until it
 * holds the messages of that period; from then on, as much is dropped as arrives.
 */
export function daysUntilFull(
  disk: Disk | null,
  bytes_per_day: number,
  { kept_days, message_bytes }: { readonly kept_days: number | null; readonly message_bytes: number },
): number | null {
  if (disk === null || bytes_per_day === 0) return null;
  const remaining = kept_days === null ? Number.POSITIVE_INFINITY : kept_days * bytes_per_day - message_bytes;
  return remaining <= disk.free_bytes ? null : disk.free_bytes / bytes_per_day;
}

function tableView(
  { name, bytes, index_bytes, rows, partitions }: TableSize,
  kept_for: (kind: RetentionKind) => number | null,
): TableView {
  const kind = aged[name];
  const kept_seconds = kind === undefined ? null : kept_for(kind);
  const rule = kept_seconds !== null ? 'age' : kind !== undefined || permanent.has(name) ? 'always' : 'trimmed';
  const setting = kind === undefined ? null : ageSettings[kind];
  return { name, bytes, index_bytes, rows, partitions, kept: rule, kept_seconds, setting };
}
