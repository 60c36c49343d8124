import type { InstanceNumbers } from '../metrics/index.ts';
import type { AlarmFacts } from './facts-store.ts';
import { type AlarmRule, alarmRuleNames, type Measurement, ruleOf } from './rules.ts';

export type NoticeKind = 'start' | 'reminder' | 'end';

const REMIND_MS = 86_400_000;

/** An alarm that has not ended, or a condition that has not lasted long enough yet. */
export interface OpenAlarm {
  readonly id: string;
  readonly workspace_id: string;
  readonly rule: string;
  readonly subject: string;
  readonly status: 'pending' | 'active';
  readonly detail: string;
  readonly value: number;
  readonly page: string;
  readonly seen_since: Date;
  readonly clear_since: Date | null;
  readonly started_at: Date | null;
  readonly acknowledged_at: Date | null;
  readonly told_at: Date | null;
}

export interface AlarmChange extends Omit<OpenAlarm, 'status' | 'acknowledged_at'> {
  readonly status: 'pending' | 'active' | 'ended';
  readonly ended_at: Date | null;
  readonly notice: NoticeKind | null;
}

export interface Turn {
  readonly changed: readonly AlarmChange[];
  /** Conditions that cleared before they had lasted long enough. */
  readonly dropped: readonly string[];
}

const measurementKey = (rule: string, { workspace_id, subject }: Pick<Measurement, 'workspace_id' | 'subject'>) =>
  JSON.stringify([workspace_id, rule, subject]);

/**
 * Decides how alarms change in one turn: raised after a minimum duration, ended once the condition has stayed clear.
 */
export function judgeTurn(
  now: Date,
  open: readonly OpenAlarm[],
  numbers: InstanceNumbers,
  facts: AlarmFacts,
  newAlarmId: () => string,
): Turn {
  const known = new Map(open.map((alarm) => [measurementKey(alarm.rule, alarm), alarm]));
  const changed: AlarmChange[] = [];
  const dropped: string[] = [];
  for (const name of alarmRuleNames) {
    const { raise, clear } = ruleOf(name);
    for (const measured of ruleOf(name).measure(numbers, facts)) {
      const key = measurementKey(name, measured);
      const alarm = known.get(key) ?? null;
      known.delete(key);
      const holds = measured.value >= (alarm?.status === 'active' ? clear : raise);
      if (holds) changed.push(...raised(now, name, measured, alarm, newAlarmId));
      else if (alarm) recordGone(now, { ...alarm, value: measured.value }, changed, dropped);
    }
  }
  // The remaining alarms are no longer measured, for instance because an endpoint succeeds again.
  for (const alarm of known.values()) recordGone(now, alarm, changed, dropped);
  return { changed, dropped };
}

function raised(
  now: Date,
  rule: AlarmRule,
  { workspace_id, subject, value, detail, page }: Measurement,
  alarm: OpenAlarm | null,
  newAlarmId: () => string,
): AlarmChange[] {
  const seen_since = alarm?.seen_since ?? now;
  const lasted = now.getTime() - seen_since.getTime() >= ruleOf(rule).for_seconds * 1000;
  const was_active = alarm?.status === 'active';
  const remind =
    was_active && alarm.acknowledged_at === null && now.getTime() - (alarm.told_at ?? now).getTime() >= REMIND_MS;
  const notice: NoticeKind | null = !was_active && lasted ? 'start' : remind ? 'reminder' : null;
  if (was_active && notice === null && alarm.clear_since === null && alarm.detail === detail) return [];
  return [
    {
      id: alarm?.id ?? newAlarmId(),
      workspace_id,
      rule,
      subject,
      status: was_active || lasted ? 'active' : 'pending',
      detail,
      value,
      page,
      seen_since,
      clear_since: null,
      started_at: alarm?.started_at ?? (lasted ? now : null),
      ended_at: null,
      told_at: notice ? now : (alarm?.told_at ?? null),
      notice,
    },
  ];
}

function recordGone(now: Date, alarm: OpenAlarm, changed: AlarmChange[], dropped: string[]): void {
  if (alarm.status === 'pending') {
    dropped.push(alarm.id);
    return;
  }
  const clear_since = alarm.clear_since ?? now;
  const { clear_seconds } = isRule(alarm.rule) ? ruleOf(alarm.rule) : { clear_seconds: 0 };
  const is_over = now.getTime() - clear_since.getTime() >= clear_seconds * 1000;
  if (!is_over && alarm.clear_since !== null) return;
  const { acknowledged_at: _, ...rest } = alarm;
  changed.push({
    ...rest,
    status: is_over ? 'ended' : 'active',
    clear_since,
    ended_at: is_over ? now : null,
    told_at: is_over ? now : alarm.told_at,
    notice: is_over ? 'end' : null,
  });
}

function isRule(name: string): name is AlarmRule {
  return alarmRuleNames.some((known) => known === name);
}
