import { type Checkup as CheckupFound, checkupStatuses, examineMachine } from '@postrider/core/doctor';
import { getHealth, type Health as HealthFound, healthStatuses } from '@postrider/core/health';
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
