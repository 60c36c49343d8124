export { acknowledgeAlarm } from './acknowledge-alarm.ts';
export { type AlarmEntry, alarmStatuses } from './alarm-entry.ts';
export { openConditions } from './conditions.ts';
export { dashboardPath } from './dashboard-path.ts';
export { createAlarmJudge } from './judge.ts';
export { listAlarms } from './list-alarms.ts';
export { type AlarmRuleEntry, listAlarmRules } from './list-rules.ts';
export { readAlarms } from './read-alarms.ts';
export { rotateAlarmSecret } from './rotate-secret.ts';
export { alarmNames, rulesOf } from './rules.ts';
export { type AlarmTestEntry, sendTestAlarm } from './send-test.ts';
export { instanceSender, type Sender, senderOf, senderOfOwner } from './sender.ts';
export {
  type AlarmSettingsEntry,
  getAlarmSettings,
  type SavedAlarmSettings,
  setAlarmSettings,
} from './settings.ts';
export { webhookForms } from './settings-store.ts';
export { forgetAlarms } from './store.ts';
export { unopenedAlarmSecrets } from './webhook-secret.ts';
