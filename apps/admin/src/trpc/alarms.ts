import { acknowledgeAlarm, getAlarmSettings, listAlarms, setAlarmSettings } from '@postrider/core/alarms';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const alarms = router({
  list: query(listAlarms),
  acknowledge: mutation(acknowledgeAlarm),
  settings: query(getAlarmSettings),
  setSettings: mutation(setAlarmSettings),
});
