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
      description: 'What was found, if something is wrong.',
    }),
    advice: t.exposeString('advice', { nullable: true }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
  }),
});

const Health = builder.objectRef<HealthFound>('Health').implement({
  fields: (t) => ({
    status: t.field({ type: HealthStatus, description: 'The worst of all checks.', resolve: ({ status }) => status }),
    checks: t.field({ type: [HealthCheck], resolve: ({ checks }) => checks }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: Health,
    description: 'Whether mail is delivered, and what needs action. Operators also see the dead jobs of all queues.',
    resolve: (_, __, g) => call(g, getHealth, {}),
  }),
);

const CheckupStatus = enumOf('CheckupStatus', checkupStatuses);

const CheckupCheck = builder.objectRef<CheckupFound['checks'][number]>('CheckupCheck').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.field({ type: CheckupStatus, resolve: ({ status }) => status }),
    detail: t.exposeString('detail'),
    fix: t.exposeString('fix', { nullable: true, description: 'What to do, if something is wrong.' }),
  }),
});

const Checkup = builder.objectRef<CheckupFound>('Checkup').implement({
  fields: (t) => ({
    status: t.field({ type: CheckupStatus, description: 'The worst of all checks.', resolve: ({ status }) => status }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
    checks: t.field({ type: [CheckupCheck], resolve: ({ checks }) => checks }),
  }),
});

builder.queryField('machine', (t) =>
  t.field({
    type: Checkup,
    description: 'What the machine doctor finds: each check with its fix. Takes up to 5 s.',
    // It queries name servers and opens connections.
    complexity: 100,
    resolve: (_, __, g) => call(g, examineMachine, {}),
  }),
);

const TableKeeping = enumOf(
  'TableKeeping',
  tableKeeping,
  'AGE: for keptSeconds. ALWAYS: nothing of it is deleted by age. TRIMMED: it is small, or has a limit of its own.',
);

const StorageTable = builder.objectRef<StorageView['tables'][number]>('StorageTable').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    bytes: t.field({ type: 'BigInt', description: 'With its indexes.', resolve: ({ bytes }) => bytes }),
    indexBytes: t.field({ type: 'BigInt', resolve: ({ index_bytes }) => index_bytes }),
    rows: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Estimated; null: not yet.',
      resolve: ({ rows }) => rows,
    }),
    partitions: t.exposeInt('partitions'),
    kept: t.field({ type: TableKeeping, resolve: ({ kept }) => kept }),
    keptSeconds: t.int({ nullable: true, resolve: ({ kept_seconds }) => kept_seconds }),
    setting: t.exposeString('setting', { nullable: true, description: 'The variable that sets its age.' }),
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
      description: 'null: the disk of another server.',
      resolve: ({ disk }) => disk,
    }),
    mails: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'About so many are kept; null: not counted yet.',
      resolve: ({ mails }) => mails,
    }),
    bytesPerMail: t.int({ resolve: ({ bytes_per_mail }) => bytes_per_mail }),
    measured: t.exposeBoolean('measured', { description: 'false: bytesPerMail is that of a usual mail.' }),
    mailsPerDay: t.float({ description: 'Over the last seven days.', resolve: ({ mails_per_day }) => mails_per_day }),
    daysUntilFull: t.float({
      nullable: true,
      description: 'null: not at this rate and with this retention, or not known.',
      resolve: ({ days_until_full }) => days_until_full,
    }),
    tables: t.field({ type: [StorageTable], resolve: ({ tables }) => tables }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
  }),
});

builder.queryField('storage', (t) =>
  t.field({
    type: Storage,
    description: 'Bytes of each table and mail, and days until the disk is full. Needs operator.',
    // It asks for the size of every file.
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
      description: 'null: without limit.',
      resolve: ({ kept_seconds }) => kept_seconds,
    }),
    setting: t.exposeString('setting', { description: 'The environment variable that sets it.' }),
  }),
});

const Retention = builder.objectRef<RetentionView>('Retention').implement({
  fields: (t) => ({
    kinds: t.field({ type: [KeptKind], resolve: ({ kinds }) => kinds }),
    capturedBytes: t.int({
      description: 'The bytes of captured mail that a workspace keeps.',
      resolve: ({ captured_bytes }) => captured_bytes,
    }),
    delivery: t.field({
      type: [DeliveryKind],
      description: 'Where live mail goes.',
      resolve: ({ delivery }) => delivery,
    }),
    transcripts: t.exposeString('transcripts', { description: 'failures or all: which SMTP dialogues are kept.' }),
    requestLog: t.boolean({ resolve: ({ request_log }) => request_log }),
  }),
});

builder.queryField('retention', (t) =>
  t.field({
    type: Retention,
    description: 'How long what is kept, and whether mail is captured. Needs admin.',
    resolve: (_, __, g) => call(g, getRetention, {}),
  }),
);
