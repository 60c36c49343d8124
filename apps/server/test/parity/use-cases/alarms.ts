import { invoke, newId } from '@postrider/core';
import {
  acknowledgeAlarm,
  getAlarmSettings,
  listAlarmRules,
  listAlarms,
  rotateAlarmSecret,
  sendTestAlarm,
  setAlarmSettings,
} from '@postrider/core/alarms';
import * as shapes from '../shapes.ts';
import { absent, mutation, reading, type UseCase, useCase } from '../use-case.ts';
import { emptySetup, NO_REST } from './setup.ts';

const anAlarm: UseCase['given'] = async ({ services }, workspace_id, number) => {
  const id = newId('alarm', services.clock.now());
  await services.sql`
    insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at)
    values (${id}, ${workspace_id}, 'domain_regressed', ${`nr${number}.example.com`}, 'active', 'It lost a record.', 1,
      '/domains', clock_now(), clock_now())`;
  return { input: { alarm_id: id } };
};

const aDestination: UseCase['given'] = async (world, workspace_id) => {
  await invoke(world.as(workspace_id), setAlarmSettings, {
    access: 'workspace',
    webhook_url: 'http://127.0.0.1/alerts',
  });
  return { input: { access: 'workspace' } };
};

export const alarms = [
  useCase(listAlarms, {
    rest: NO_REST,
    trpc: 'GET alarms.list',
    graphql: reading('alarms', { active: 'Boolean' }, shapes.alarm, undefined, (data) => ({ data })),
    given: async (world, workspace_id, number) => {
      await anAlarm(world, workspace_id, number);
      return { input: { active: true } };
    },
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the alarms of the instance.') },
  }),
  useCase(acknowledgeAlarm, {
    rest: NO_REST,
    trpc: 'POST alarms.acknowledge',
    graphql: mutation(
      'alarmAcknowledge',
      'AlarmAcknowledgeInput',
      'AlarmPayload',
      `of: alarm { ${shapes.alarm} }`,
      ({ input }) => ({ id: input.alarm_id }),
    ),
    given: anAlarm,
    target: 'alarm_id',
    scope: 'admin',
    scope_on: { graphql: absent('An operator acknowledges the alarms of the instance.') },
    writes: true,
    varying: ['acknowledged_by'],
  }),
  useCase(getAlarmSettings, {
    rest: NO_REST,
    trpc: 'GET alarms.settings',
    graphql: reading('alarmSettings', {}, shapes.alarmSettings),
    given: emptySetup,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the settings of the instance.') },
  }),
  useCase(setAlarmSettings, {
    rest: NO_REST,
    trpc: 'POST alarms.setSettings',
    graphql: mutation(
      'alarmSettingsUpdate',
      'AlarmSettingsInput',
      'AlarmSettingsPayload',
      `of: settings { ${shapes.alarmSettings} } webhook_secret: webhookSecret`,
    ),
    given: async () => ({ input: { emails: ['grace@example.com'], quiet_from: '22:00', quiet_until: '06:30' } }),
    scope: 'admin',
    scope_on: { graphql: absent('An operator sets those of the instance.') },
    writes: true,
    bad: { emails: ['nowhere'] },
  }),
  useCase(listAlarmRules, {
    rest: NO_REST,
    trpc: 'GET alarms.rules',
    graphql: reading('alarmRules', {}, shapes.alarmRule),
    given: emptySetup,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees instance-wide rules.') },
  }),
  useCase(rotateAlarmSecret, {
    rest: NO_REST,
    trpc: 'POST alarms.rotateSecret',
    graphql: mutation(
      'alarmSecretRotate',
      'AlarmTargetInput',
      'AlarmSettingsPayload',
      `of: settings { ${shapes.alarmSettings} } webhook_secret: webhookSecret`,
      ({ input }) => ({ access: String(input.access).toUpperCase() }),
    ),
    given: aDestination,
    scope: 'admin',
    scope_on: { graphql: absent('An operator rotates the instance-wide secret.') },
    writes: true,
    varying: ['webhook_secret', 'webhook_secret_last4'],
  }),
  useCase(sendTestAlarm, {
    rest: NO_REST,
    trpc: 'POST alarms.test',
    graphql: mutation(
      'alarmTest',
      'AlarmTargetInput',
      'AlarmTestPayload',
      `results { ${shapes.alarmOutcome} }`,
      ({ input }) => ({ access: String(input.access).toUpperCase() }),
    ),
    given: aDestination,
    scope: 'admin',
    scope_on: { graphql: absent('An operator tests instance-wide alerts.') },
    writes: true,
  }),
];
