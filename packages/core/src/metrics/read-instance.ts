import { roleNames } from '../process/config.ts';
import type { InstanceReading } from '../process/metrics.ts';
import type { InstanceNumbers } from './store.ts';

const states = ['ready', 'deferred', 'active', 'dead', 'parked'] as const;

export interface AlarmNumbers {
  readonly active: number;
  readonly notices_waiting: number;
}

export const NO_ALARMS: AlarmNumbers = { active: 0, notices_waiting: 0 };

/** Converts the instance's numbers to gauges. */
export function readingsOf(numbers: InstanceNumbers, alarms: AlarmNumbers): InstanceReading[] {
  const { queues, roles, backlog, holds } = numbers;
  const live = new Map(roles.map(({ role, live }) => [role, live]));
  const single: InstanceReading[] = [
    { name: 'webhook_endpoints_disabled', labels: [], value: numbers.endpoints_disabled },
    { name: 'quota_used_ratio', labels: [], value: numbers.quota_used_ratio },
    { name: 'domain_records_failing', labels: [], value: numbers.domains_failing },
    { name: 'scheduled_late_seconds', labels: [], value: numbers.scheduled_late_seconds },
    { name: 'clock_skew_seconds', labels: [], value: numbers.clock_skew_seconds },
    { name: 'alarms_active', labels: [], value: alarms.active },
    { name: 'alarm_notices_waiting', labels: [], value: alarms.notices_waiting },
  ];
  return [
    ...queues.flatMap((stand) =>
      states.map(
        (state): InstanceReading => ({ name: 'queue_jobs', labels: [stand.queue, state], value: stand[state] }),
      ),
    ),
    ...queues.map(
      ({ queue, oldest_ready_seconds }): InstanceReading => ({
        name: 'queue_oldest_ready_seconds',
        labels: [queue],
        value: oldest_ready_seconds ?? 0,
      }),
    ),
    ...backlog.flatMap(({ provider, total, oldest_seconds }): InstanceReading[] => [
      { name: 'backlog_messages', labels: [provider], value: total },
      { name: 'backlog_oldest_seconds', labels: [provider], value: oldest_seconds },
    ]),
    ...holds.map(({ scope, active }): InstanceReading => ({ name: 'holds_active', labels: [scope], value: active })),
    ...roleNames.map((role): InstanceReading => ({ name: 'worker_live', labels: [role], value: live.get(role) ?? 0 })),
    ...(numbers.heartbeat_age_seconds === null
      ? []
      : [
          {
            name: 'worker_heartbeat_age_seconds',
            labels: [],
            value: numbers.heartbeat_age_seconds,
          } satisfies InstanceReading,
        ]),
    ...single,
  ];
}
