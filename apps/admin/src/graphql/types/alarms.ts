import { accessScopes } from '@postrider/core';
import {
  type AlarmEntry,
  type AlarmRuleEntry,
  type AlarmSettingsEntry,
  type AlarmTestEntry,
  acknowledgeAlarm,
  alarmStatuses,
  getAlarmSettings,
  listAlarmRules,
  listAlarms,
  rotateAlarmSecret,
  type SavedAlarmSettings,
  sendTestAlarm,
  setAlarmSettings,
  webhookForms,
} from '@postrider/core/alarms';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';

// In practice, fewer alarms are active at the same time. tRPC pages through alarms that have ended.
const MAX_ITEMS = 100;

const AlarmStatus = enumOf('AlarmStatus', alarmStatuses);
const AlarmAccess = enumOf('AlarmAccess', accessScopes);
const AlarmWebhookFormat = enumOf('AlarmWebhookFormat', webhookForms);
const Alarm = builder.objectRef<AlarmEntry>('Alarm');

claimIds('alarm', 'Alarm');
builder.node(Alarm, {
  description: 'A condition that lasted long enough to trigger notifications.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.alarms.loadMany(ids),
  fields: (t) => ({
    workspaceId: t.id({
      nullable: true,
      description: 'null: an instance alert.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    rule: t.exposeString('rule'),
    title: t.exposeString('title'),
    subject: t.exposeString('subject', { nullable: true, description: 'What the alert is about, such as a queue.' }),
    status: t.field({ type: AlarmStatus, resolve: ({ status }) => status }),
    detail: t.exposeString('detail'),
    page: t.exposeString('page', { description: 'Path of the dashboard page that shows the problem.' }),
    startedAt: t.field({ type: 'DateTime', resolve: ({ started_at }) => started_at }),
    endedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ ended_at }) => ended_at }),
    acknowledgedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ acknowledged_at }) => acknowledged_at }),
    acknowledgedBy: t.string({ nullable: true, resolve: ({ acknowledged_by }) => acknowledged_by }),
    noticeDroppedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a notification last expired without being delivered.',
      resolve: ({ notice_dropped_at }) => notice_dropped_at,
    }),
  }),
});

const AlarmSettings = builder.objectRef<AlarmSettingsEntry>('AlarmSettings').implement({
  description: 'Alert settings.',
  fields: (t) => ({
    access: t.field({ type: AlarmAccess, resolve: ({ access }) => access }),
    emails: t.stringList({ resolve: ({ emails }) => [...emails] }),
    webhookUrl: t.string({ nullable: true, resolve: ({ webhook_url }) => webhook_url }),
    webhookFormat: t.field({
      type: AlarmWebhookFormat,
      description: 'JSON is signed; SLACK is what Slack, Mattermost and Discord read.',
      resolve: ({ webhook_format }) => webhook_format,
    }),
    webhookSecretLast4: t.string({
      nullable: true,
      description: 'The end of the secret that signs; null: requests are unsigned.',
      resolve: ({ webhook_secret_last4 }) => webhook_secret_last4,
    }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'The sender address; null: alerts@ at the first verified domain.',
    }),
    quietFrom: t.string({
      nullable: true,
      description: 'A time of day in UTC, for example 22:00.',
      resolve: ({ quiet_from }) => quiet_from,
    }),
    quietUntil: t.string({ nullable: true, resolve: ({ quiet_until }) => quiet_until }),
  }),
});

const AlarmRule = builder.objectRef<AlarmRuleEntry>('AlarmRule').implement({
  description: 'A rule that raises alerts.',
  fields: (t) => ({
    rule: t.exposeString('rule'),
    title: t.exposeString('title'),
    condition: t.exposeString('condition', { description: 'When the alert is raised, with its threshold.' }),
    access: t.field({
      type: AlarmAccess,
      description: 'Whether the rule judges the workspace or the instance.',
      resolve: ({ access }) => access,
    }),
    active: t.exposeInt('active', { description: 'How many alerts of the rule are active.' }),
    runbook: t.exposeString('runbook', { description: 'Path of the documentation about the alert.' }),
  }),
});

builder.queryFields((t) => ({
  alarms: t.field({
    type: [Alarm],
    description:
      'Alerts, newest first. With active: false, the newest 100, including resolved ones. Requires admin or operator.',
    args: { active: t.arg.boolean({ defaultValue: true }) },
    complexity: { field: 1, multiplier: 10 },
    resolve: async (_, { active }, g) => (await call(g, listAlarms, { active: active ?? true, limit: MAX_ITEMS })).data,
  }),
  alarmRules: t.field({
    type: [AlarmRule],
    description: 'The rules that raise alerts, with their thresholds. Requires admin or operator.',
    args: { access: t.arg({ type: AlarmAccess }) },
    complexity: { field: 1, multiplier: 5 },
    resolve: (_, { access }, g) => call(g, listAlarmRules, { access: access ?? undefined }),
  }),
  alarmSettings: t.field({
    type: AlarmSettings,
    args: { access: t.arg({ type: AlarmAccess }) },
    resolve: (_, { access }, g) => call(g, getAlarmSettings, { access: access ?? undefined }),
  }),
}));

// Fields that an explicit null clears.
const clearable = ['webhookUrl', 'from', 'quietFrom', 'quietUntil'];

const AlarmPayload = builder.objectRef<{ readonly alarm: AlarmEntry }>('AlarmPayload').implement({
  fields: (t) => ({ alarm: t.field({ type: Alarm, resolve: ({ alarm }) => alarm }) }),
});
const AlarmSettingsPayload = builder
  .objectRef<{ readonly settings: SavedAlarmSettings }>('AlarmSettingsPayload')
  .implement({
    fields: (t) => ({
      settings: t.field({ type: AlarmSettings, resolve: ({ settings }) => settings }),
      webhookSecret: t.string({
        nullable: true,
        description: 'The new webhook secret, shown only once; null if none was created.',
        resolve: ({ settings }) => settings.webhook_secret,
      }),
    }),
  });
const AlarmTestOutcome = builder.objectRef<AlarmTestEntry['results'][number]>('AlarmTestOutcome').implement({
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'email or webhook.' }),
    destination: t.exposeString('destination', { description: 'An email address or the host of a webhook.' }),
    accepted: t.exposeBoolean('accepted'),
    detail: t.exposeString('detail'),
  }),
});
const AlarmTestPayload = builder.objectRef<AlarmTestEntry>('AlarmTestPayload').implement({
  fields: (t) => ({ results: t.field({ type: [AlarmTestOutcome], resolve: ({ results }) => results }) }),
});
const AlarmTargetInput = builder.inputType('AlarmTargetInput', {
  fields: (t) => ({ access: t.field({ type: AlarmAccess }) }),
});
const AlarmSettingsResult = resultOf('AlarmSettingsResult', AlarmSettingsPayload);

const AlarmAcknowledgeInput = builder.inputType('AlarmAcknowledgeInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
});
const AlarmSettingsInput = builder.inputType('AlarmSettingsInput', {
  description: 'Omitted fields stay unchanged.',
  fields: (t) => ({
    access: t.field({ type: AlarmAccess }),
    emails: t.stringList(),
    webhookUrl: t.string(),
    webhookFormat: t.field({ type: AlarmWebhookFormat }),
    from: t.string(),
    quietFrom: t.string(),
    quietUntil: t.string(),
  }),
});

builder.mutationFields((t) => ({
  alarmAcknowledge: t.field({
    type: resultOf('AlarmResult', AlarmPayload),
    description: 'Stops the daily reminders for an alert. Idempotent.',
    args: { input: t.arg({ type: AlarmAcknowledgeInput, required: true }) },
    resolve: (_, { input: { id, reason } }, g) =>
      outcome(async () => ({ alarm: await call(g, acknowledgeAlarm, { alarmId: id, reason }) })),
  }),
  alarmSettingsUpdate: t.field({
    type: AlarmSettingsResult,
    args: { input: t.arg({ type: AlarmSettingsInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ settings: await call(g, setAlarmSettings, input, clearable) })),
  }),
  alarmSecretRotate: t.field({
    type: AlarmSettingsResult,
    description: 'Rotates the secret of the alert webhook. The old one remains valid for 24 hours.',
    args: { input: t.arg({ type: AlarmTargetInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ settings: await call(g, rotateAlarmSecret, input) })),
  }),
  alarmTest: t.field({
    type: resultOf('AlarmTestResult', AlarmTestPayload),
    description: 'Sends a test alert to every destination, at most 5 per hour.',
    args: { input: t.arg({ type: AlarmTargetInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, sendTestAlarm, input)),
  }),
}));
