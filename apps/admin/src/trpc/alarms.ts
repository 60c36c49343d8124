import {
  acknowledgeAlarm,
  getAlarmSettings,
  listAlarmRules,
  listAlarms,
  rotateAlarmSecret,
  sendTestAlarm,
  setAlarmSettings,
} from '@postrider/core/alarms';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const alarms = router({
  list: query(listAlarms),
  rules: query(listAlarmRules),
  acknowledge: mutation(acknowledgeAlarm),
  settings: query(getAlarmSettings),
  setSettings: mutation(setAlarmSettings),
  rotateSecret: mutation(rotateAlarmSecret),
  test: mutation(sendTestAlarm),
});
