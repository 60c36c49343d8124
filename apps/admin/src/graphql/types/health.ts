import { type Checkup as CheckupFound, checkupStatuses, examineMachine } from '@postrider/core/doctor';
import { getHealth, type Health as HealthFound, healthStatuses } from '@postrider/core/health';
import {
  deliveryKinds,
  getRetention,
  getStorage,
  type RetentionView,
  retentionKinds,
  type StorageView,
  tableKeeping,
} from '@postrider/core/storage';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';

const HealthStatus = enumOf('HealthStatus', healthStatuses, 'From best to worst: OK, WARNING, FAILING.');

const HealthCheck = builder.objectRef<HealthFound['checks'][number]>('HealthCheck').implement({
  description: 'The result of one health check.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the check, such as delivery.' }),
    status: t.field({ type: HealthStatus, description: 'The result of the check.', resolve: ({ status }) => status }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'The finding, if there is a problem.',
    }),
    advice: t.exposeString('advice', { nullable: true, description: 'How to fix the problem; null: no problem.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the problem began, as far as known.',
      resolve: ({ since }) => since,
    }),
    page: t.exposeString('page', {
      nullable: true,
      description: 'The path of the dashboard page that shows the problem.',
    }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'When the check ran.',
      resolve: ({ checked_at }) => checked_at,
    }),
  }),
});

const Health = builder.objectRef<HealthFound>('Health').implement({
  description: 'The health of email delivery.',
  fields: (t) => ({
    status: t.field({
      type: HealthStatus,
      description: 'The worst status among all checks.',
      resolve: ({ status }) => status,
    }),
    checks: t.field({ type: [HealthCheck], description: 'The result of each check.', resolve: ({ checks }) => checks }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: Health,
    description:
      'Whether email is being delivered, and what needs attention. Operators also see the dead jobs in all queues.',
    resolve: (_, __, g) => call(g, getHealth, {}),
  }),
);

const CheckupStatus = enumOf(
  'CheckupStatus',
  checkupStatuses,
  'SKIPPED: the check does not apply to this installation.',
);

const CheckupCheck = builder.objectRef<CheckupFound['checks'][number]>('CheckupCheck').implement({
  description: 'The result of one check of the server.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the check, such as port_25.' }),
    status: t.field({ type: CheckupStatus, description: 'The result of the check.', resolve: ({ status }) => status }),
    detail: t.exposeString('detail', { description: 'The finding in words.' }),
    fix: t.exposeString('fix', { nullable: true, description: 'How to fix it.' }),
  }),
});

export const Checkup = builder.objectRef<CheckupFound>('Checkup').implement({
  description: 'The results of several checks: of the server, its database and its network, or of a transport.',
  fields: (t) => ({
    status: t.field({
      type: CheckupStatus,
      description: 'The worst status among all checks.',
      resolve: ({ status }) => status,
    }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'When the checks ran.',
      resolve: ({ checked_at }) => checked_at,
    }),
    checks: t.field({
      type: [CheckupCheck],
      description: 'The result of each check.',
      resolve: ({ checks }) => checks,
    }),
  }),
});

builder.queryField('machine', (t) =>
  t.field({
    type: Checkup,
    description: 'Checks of the server, each with a fix. Takes up to 5 s.',
    // Queries name servers and opens connections.
    complexity: 100,
    resolve: (_, __, g) => call(g, examineMachine, {}),
  }),
);

const TableKeeping = enumOf(
  'TableKeeping',
  tableKeeping,
  'AGE: kept for keptSeconds. ALWAYS: never deleted by age. TRIMMED: small, or has its own limit.',
);

const StorageTable = builder.objectRef<StorageView['tables'][number]>('StorageTable').implement({
  description: 'The size and retention of a database table.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the table.' }),
    bytes: t.field({ type: 'BigInt', description: 'Including indexes.', resolve: ({ bytes }) => bytes }),
    indexBytes: t.field({
      type: 'BigInt',
      description: 'The size of its indexes in bytes.',
      resolve: ({ index_bytes }) => index_bytes,
    }),
    rows: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Estimated; null: not estimated yet.',
      resolve: ({ rows }) => rows,
    }),
    partitions: t.exposeInt('partitions', { description: 'Number of partitions; 0: not partitioned.' }),
    kept: t.field({ type: TableKeeping, description: 'How its rows are deleted.', resolve: ({ kept }) => kept }),
    keptSeconds: t.int({
      nullable: true,
      description: 'The retention period in seconds; null: not deleted by age.',
      resolve: ({ kept_seconds }) => kept_seconds,
    }),
    setting: t.exposeString('setting', {
      nullable: true,
      description: 'The environment variable that sets its retention.',
    }),
  }),
});

const StorageDisk = builder.objectRef<NonNullable<StorageView['disk']>>('StorageDisk').implement({
  description: 'The disk that holds the database.',
  fields: (t) => ({
    freeBytes: t.field({
      type: 'BigInt',
      description: 'Free space in bytes.',
      resolve: ({ free_bytes }) => free_bytes,
    }),
    totalBytes: t.field({
      type: 'BigInt',
      description: 'Capacity in bytes.',
      resolve: ({ total_bytes }) => total_bytes,
    }),
  }),
});

const Storage = builder.objectRef<StorageView>('Storage').implement({
  description: 'The size of the stored data, and how fast it grows.',
  fields: (t) => ({
    databaseBytes: t.field({
      type: 'BigInt',
      description: 'The size of the database in bytes.',
      resolve: ({ database_bytes }) => database_bytes,
    }),
    disk: t.field({
      type: StorageDisk,
      nullable: true,
      description: 'null: on another server.',
      resolve: ({ disk }) => disk,
    }),
    messages: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Estimated number stored; null: not counted yet.',
      resolve: ({ messages }) => messages,
    }),
    bytesPerMessage: t.int({
      description: 'Average size per stored message in bytes.',
      resolve: ({ bytes_per_message }) => bytes_per_message,
    }),
    measured: t.exposeBoolean('measured', { description: 'If false, bytesPerMessage is a typical size.' }),
    messagesPerDay: t.float({
      description: 'Over the last seven days.',
      resolve: ({ messages_per_day }) => messages_per_day,
    }),
    mails: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The former name of messages.',
      deprecationReason: 'Use messages.',
      resolve: ({ messages }) => messages,
    }),
    bytesPerMail: t.int({
      description: 'The former name of bytesPerMessage.',
      deprecationReason: 'Use bytesPerMessage.',
      resolve: ({ bytes_per_message }) => bytes_per_message,
    }),
    mailsPerDay: t.float({
      description: 'The former name of messagesPerDay.',
      deprecationReason: 'Use messagesPerDay.',
      resolve: ({ messages_per_day }) => messages_per_day,
    }),
    daysUntilFull: t.float({
      nullable: true,
      description: 'null: never at this rate and retention, or unknown.',
      resolve: ({ days_until_full }) => days_until_full,
    }),
    tables: t.field({ type: [StorageTable], description: 'Largest first.', resolve: ({ tables }) => tables }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'When the sizes were read.',
      resolve: ({ checked_at }) => checked_at,
    }),
  }),
});

builder.queryField('storage', (t) =>
  t.field({
    type: Storage,
    description: 'Size per table and per email, and days until the disk is full. Requires operator.',
    // Reads the size of every file.
    complexity: 50,
    resolve: (_, __, g) => call(g, getStorage, {}),
  }),
);

const RetentionKind = enumOf('RetentionKind', retentionKinds, 'A kind of data with its own retention period.');
const DeliveryKind = enumOf(
  'DeliveryKind',
  deliveryKinds,
  'CAPTURE: kept in the test inbox. MX: sent to the mail servers of recipients. SMTP: sent through a relay.',
);

const KeptKind = builder.objectRef<RetentionView['kinds'][number]>('KeptKind').implement({
  description: 'The retention period of one kind of data.',
  fields: (t) => ({
    kind: t.field({ type: RetentionKind, description: 'The kind of data.', resolve: ({ kind }) => kind }),
    keptSeconds: t.int({
      nullable: true,
      description: 'null: kept indefinitely.',
      resolve: ({ kept_seconds }) => kept_seconds,
    }),
    setting: t.exposeString('setting', { description: 'The environment variable that sets it.' }),
  }),
});

const Retention = builder.objectRef<RetentionView>('Retention').implement({
  description: 'How long data is kept, and where live email goes.',
  fields: (t) => ({
    kinds: t.field({
      type: [KeptKind],
      description: 'The retention period of each kind of data.',
      resolve: ({ kinds }) => kinds,
    }),
    capturedBytes: t.int({
      description: 'Captured email per workspace in bytes.',
      resolve: ({ captured_bytes }) => captured_bytes,
    }),
    delivery: t.field({
      type: [DeliveryKind],
      description: 'Where live email goes.',
      resolve: ({ delivery }) => delivery,
    }),
    transcripts: t.exposeString('transcripts', { description: 'failures or all: which SMTP transcripts are kept.' }),
    requestLog: t.boolean({
      description: 'Whether rejected and failed requests are stored.',
      resolve: ({ request_log }) => request_log,
    }),
  }),
});

builder.queryField('retention', (t) =>
  t.field({
    type: Retention,
    description: 'Retention settings, and whether email is captured. Requires admin.',
    resolve: (_, __, g) => call(g, getRetention, {}),
  }),
);
