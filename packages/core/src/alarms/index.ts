export { acknowledgeAlarm } from './acknowledge-alarm.ts';
export { type AlarmEntry, alarmStatuses } from './alarm-entry.ts';
export { openConditions } from './conditions.ts';
export { createAlarmJudge } from './judge.ts';
export { listAlarms } from './list-alarms.ts';
export { readAlarms } from './read-alarms.ts';
export { alarmNames } from './rules.ts';
export { type AlarmSettingsEntry, getAlarmSettings, setAlarmSettings } from './settings.ts';
export { forgetAlarms } from './store.ts';
