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

const HealthStatus = enumOf('HealthStatus', healthStatuses);

const HealthCheck = builder.objectRef<HealthFound['checks'][number]>('HealthCheck').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.field({ type: HealthStatus, resolve: ({ status }) => status }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'The finding, if there is a problem.',
    }),
    advice: t.exposeString('advice', { nullable: true }),
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
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
  }),
});

const Health = builder.objectRef<HealthFound>('Health').implement({
  fields: (t) => ({
    status: t.field({
      type: HealthStatus,
      description: 'The worst status among all checks.',
      resolve: ({ status }) => status,
    }),
    checks: t.field({ type: [HealthCheck], resolve: ({ checks }) => checks }),
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

const CheckupStatus = enumOf('CheckupStatus', checkupStatuses);

const CheckupCheck = builder.objectRef<CheckupFound['checks'][number]>('CheckupCheck').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.field({ type: CheckupStatus, resolve: ({ status }) => status }),
    detail: t.exposeString('detail'),
    fix: t.exposeString('fix', { nullable: true, description: 'How to fix it.' }),
  }),
});

const Checkup = builder.objectRef<CheckupFound>('Checkup').implement({
  fields: (t) => ({
    status: t.field({
      type: CheckupStatus,
      description: 'The worst status among all checks.',
      resolve: ({ status }) => status,
    }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
    checks: t.field({ type: [CheckupCheck], resolve: ({ checks }) => checks }),
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
  fields: (t) => ({
    name: t.exposeString('name'),
    bytes: t.field({ type: 'BigInt', description: 'Including indexes.', resolve: ({ bytes }) => bytes }),
    indexBytes: t.field({ type: 'BigInt', resolve: ({ index_bytes }) => index_bytes }),
    rows: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Estimated; null: not estimated yet.',
      resolve: ({ rows }) => rows,
    }),
    partitions: t.exposeInt('partitions'),
    kept: t.field({ type: TableKeeping, resolve: ({ kept }) => kept }),
    keptSeconds: t.int({ nullable: true, resolve: ({ kept_seconds }) => kept_seconds }),
    setting: t.exposeString('setting', {
      nullable: true,
      description: 'The environment variable that sets its retention.',
    }),
  }),
});

const StorageDisk = builder.objectRef<NonNullable<StorageView['disk']>>('StorageDisk').implement({
  fields: (t) => ({
    freeBytes: t.field({ type: 'BigInt', resolve: ({ free_bytes }) => free_bytes }),
    totalBytes: t.field({ type: 'BigInt', resolve: ({ total_bytes }) => total_bytes }),
  }),
});

const Storage = builder.objectRef<StorageView>('Storage').implement({
  fields: (t) => ({
    databaseBytes: t.field({ type: 'BigInt', resolve: ({ database_bytes }) => database_bytes }),
    disk: t.field({
      type: StorageDisk,
      nullable: true,
      description: 'null: on another server.',
      resolve: ({ disk }) => disk,
    }),
    mails: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Estimated number stored; null: not counted yet.',
      resolve: ({ mails }) => mails,
    }),
    bytesPerMail: t.int({ resolve: ({ bytes_per_mail }) => bytes_per_mail }),
    measured: t.exposeBoolean('measured', { description: 'If false, bytesPerMail is a typical size.' }),
    mailsPerDay: t.float({ description: 'Over the last seven days.', resolve: ({ mails_per_day }) => mails_per_day }),
    daysUntilFull: t.float({
      nullable: true,
      description: 'null: never at this rate and retention, or unknown.',
      resolve: ({ days_until_full }) => days_until_full,
    }),
    tables: t.field({ type: [StorageTable], resolve: ({ tables }) => tables }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
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

const RetentionKind = enumOf('RetentionKind', retentionKinds);
const DeliveryKind = enumOf('DeliveryKind', deliveryKinds);

const KeptKind = builder.objectRef<RetentionView['kinds'][number]>('KeptKind').implement({
  fields: (t) => ({
    kind: t.field({ type: RetentionKind, resolve: ({ kind }) => kind }),
    keptSeconds: t.int({
      nullable: true,
      description: 'null: kept indefinitely.',
      resolve: ({ kept_seconds }) => kept_seconds,
    }),
    setting: t.exposeString('setting', { description: 'The environment variable that sets it.' }),
  }),
});

const Retention = builder.objectRef<RetentionView>('Retention').implement({
  fields: (t) => ({
    kinds: t.field({ type: [KeptKind], resolve: ({ kinds }) => kinds }),
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
    requestLog: t.boolean({ resolve: ({ request_log }) => request_log }),
  }),
});

builder.queryField('retention', (t) =>
  t.field({
    type: Retention,
    description: 'Retention settings, and whether email is captured. Requires admin.',
    resolve: (_, __, g) => call(g, getRetention, {}),
  }),
);
