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
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';

// In practice, fewer alarms are active at the same time. tRPC pages through alarms that have ended.
const MAX_ITEMS = 100;

const AlarmStatus = enumOf('AlarmStatus', alarmStatuses, 'ENDED: the condition no longer holds.');
const AlarmAccess = enumOf('AlarmAccess', accessScopes, 'WORKSPACE requires admin, INSTANCE requires operator.');
const AlarmWebhookFormat = enumOf(
  'AlarmWebhookFormat',
  webhookForms,
  'JSON is signed; SLACK is what Slack, Mattermost and Discord read.',
);
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
    rule: t.exposeString('rule', { description: 'The rule that raised it, such as queue_waits.' }),
    title: t.exposeString('title', { description: 'The title of its rule, for people.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'What the alert is about, such as a queue.' }),
    status: t.field({
      type: AlarmStatus,
      description: 'Whether the condition still holds.',
      resolve: ({ status }) => status,
    }),
    detail: t.exposeString('detail', {
      description: 'The measured condition in words. May change while the alert is active.',
    }),
    page: t.exposeString('page', { description: 'Path of the dashboard page that shows the problem.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the alert was raised.',
      resolve: ({ started_at }) => started_at,
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the condition ended; null while active.',
      resolve: ({ ended_at }) => ended_at,
    }),
    acknowledgedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its reminders were stopped; null: not acknowledged.',
      resolve: ({ acknowledged_at }) => acknowledged_at,
    }),
    acknowledgedBy: t.string({
      nullable: true,
      description: 'The email address of the user, or the ID of the API key, that acknowledged it.',
      resolve: ({ acknowledged_by }) => acknowledged_by,
    }),
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
    access: t.field({
      type: AlarmAccess,
      description: 'Whether these are the settings of the workspace or of the instance.',
      resolve: ({ access }) => access,
    }),
    emails: t.stringList({
      description: 'The addresses that alerts are sent to.',
      resolve: ({ emails }) => [...emails],
    }),
    webhookUrl: t.string({
      nullable: true,
      description: 'The URL that alerts are sent to; null: none.',
      resolve: ({ webhook_url }) => webhook_url,
    }),
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
    quietUntil: t.string({
      nullable: true,
      description: 'The end of the quiet hours in UTC, for example 06:00; null: no quiet hours.',
      resolve: ({ quiet_until }) => quiet_until,
    }),
  }),
});

const AlarmRule = builder.objectRef<AlarmRuleEntry>('AlarmRule').implement({
  description: 'A rule that raises alerts.',
  fields: (t) => ({
    rule: t.exposeString('rule', { description: 'The name of the rule, such as queue_waits.' }),
    title: t.exposeString('title', { description: 'The title of its alerts, for people.' }),
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
    args: { active: t.arg.boolean({ defaultValue: true, description: 'false: also resolved ones.' }) },
    complexity: { field: 1, multiplier: 10 },
    resolve: async (_, { active }, g) => (await call(g, listAlarms, { active: active ?? true, limit: MAX_ITEMS })).data,
  }),
  alarmRules: t.field({
    type: [AlarmRule],
    description: 'The rules that raise alerts, with their thresholds. Requires admin or operator.',
    args: {
      access: t.arg({
        type: AlarmAccess,
        description: 'WORKSPACE is the default for admins, INSTANCE for operators without admin.',
      }),
    },
    complexity: { field: 1, multiplier: 5 },
    resolve: (_, { access }, g) => call(g, listAlarmRules, { access: access ?? undefined }),
  }),
  alarmSettings: t.field({
    type: AlarmSettings,
    description: 'Where alerts are sent, and the quiet hours. Requires admin or operator.',
    args: {
      access: t.arg({
        type: AlarmAccess,
        description: 'WORKSPACE is the default for admins, INSTANCE for operators without admin.',
      }),
    },
    resolve: (_, { access }, g) => call(g, getAlarmSettings, { access: access ?? undefined }),
  }),
}));

// Fields that an explicit null clears.
const clearable = ['webhookUrl', 'from', 'quietFrom', 'quietUntil'];

const AlarmPayload = builder.objectRef<{ readonly alarm: AlarmEntry }>('AlarmPayload').implement({
  description: 'The acknowledged alert.',
  fields: (t) => ({
    alarm: t.field({ type: Alarm, description: 'The alert after the change.', resolve: ({ alarm }) => alarm }),
  }),
});
const AlarmSettingsPayload = builder
  .objectRef<{ readonly settings: SavedAlarmSettings }>('AlarmSettingsPayload')
  .implement({
    description: 'The saved alert settings.',
    fields: (t) => ({
      settings: t.field({
        type: AlarmSettings,
        description: 'The settings after the change.',
        resolve: ({ settings }) => settings,
      }),
      webhookSecret: t.string({
        nullable: true,
        description: 'The new webhook secret, shown only once; null if none was created.',
        resolve: ({ settings }) => settings.webhook_secret,
      }),
    }),
  });
const AlarmTestOutcome = builder.objectRef<AlarmTestEntry['results'][number]>('AlarmTestOutcome').implement({
  description: 'The result of a test alert at one destination.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'email or webhook.' }),
    destination: t.exposeString('destination', { description: 'An email address or the host of a webhook.' }),
    accepted: t.exposeBoolean('accepted', { description: 'Whether the destination accepted it.' }),
    detail: t.exposeString('detail', { description: 'The result in words, such as Webhook returned 200 in 34 ms.' }),
  }),
});
const AlarmTestPayload = builder.objectRef<AlarmTestEntry>('AlarmTestPayload').implement({
  description: 'The results of a test alert.',
  fields: (t) => ({
    results: t.field({
      type: [AlarmTestOutcome],
      description: 'One result per destination; empty if none is configured.',
      resolve: ({ results }) => results,
    }),
  }),
});
const AlarmTargetInput = builder.inputType('AlarmTargetInput', {
  description: 'The alert settings to use.',
  fields: (t) => ({
    access: t.field({
      type: AlarmAccess,
      description: 'WORKSPACE is the default for admins, INSTANCE for operators without admin.',
    }),
  }),
});
const AlarmSettingsResult = resultOf('AlarmSettingsResult', AlarmSettingsPayload);

const AlarmAcknowledgeInput = builder.inputType('AlarmAcknowledgeInput', {
  description: 'The alert to acknowledge.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The alert ID.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});
const AlarmSettingsInput = builder.inputType('AlarmSettingsInput', {
  description: 'Omitted fields stay unchanged.',
  fields: (t) => ({
    access: t.field({
      type: AlarmAccess,
      description: 'WORKSPACE is the default for admins, INSTANCE for operators without admin.',
    }),
    emails: t.stringList({ description: 'All addresses that alerts are sent to, at most 20.' }),
    webhookUrl: t.string({ description: 'The URL that alerts are sent to; null removes it and its secret.' }),
    webhookFormat: t.field({
      type: AlarmWebhookFormat,
      description:
        'Default with a new webhookUrl: SLACK for Slack and for Discord URLs that end in /slack, otherwise JSON.',
    }),
    from: t.string({ description: 'The sender address; null: alerts@ at the first verified domain.' }),
    quietFrom: t.string({
      description: 'The start of the quiet hours in UTC, such as 22:30. Set it together with quietUntil; null: none.',
    }),
    quietUntil: t.string({
      description: 'The end of the quiet hours in UTC, such as 06:30. Set it together with quietFrom; null: none.',
    }),
  }),
});

builder.mutationFields((t) => ({
  alarmAcknowledge: t.field({
    type: resultOf('AlarmResult', AlarmPayload),
    description: 'Stops the daily reminders for an alert. Idempotent.',
    args: { input: inputArg(t, AlarmAcknowledgeInput) },
    resolve: (_, { input: { id, reason } }, g) =>
      outcome(async () => ({ alarm: await call(g, acknowledgeAlarm, { alarmId: id, reason }) })),
  }),
  alarmSettingsUpdate: t.field({
    type: AlarmSettingsResult,
    description: 'Updates the alert settings. A new JSON webhook gets a secret.',
    args: { input: inputArg(t, AlarmSettingsInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ settings: await call(g, setAlarmSettings, input, clearable) })),
  }),
  alarmSecretRotate: t.field({
    type: AlarmSettingsResult,
    description: 'Rotates the secret of the alert webhook. The old one remains valid for 24 hours.',
    args: { input: inputArg(t, AlarmTargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ settings: await call(g, rotateAlarmSecret, input) })),
  }),
  alarmTest: t.field({
    type: resultOf('AlarmTestResult', AlarmTestPayload),
    description: 'Sends a test alert to every destination, at most 5 per hour.',
    args: { input: inputArg(t, AlarmTargetInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, sendTestAlarm, input)),
  }),
}));
