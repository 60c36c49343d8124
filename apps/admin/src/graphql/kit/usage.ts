import type { MonthUsage, PlanUse } from '@postrider/core/usage';
import { builder } from './builder.ts';
import { StatPoint } from './stat-point.ts';

const Held = builder.objectRef<PlanUse['domains']>('PlanUseOf').implement({
  fields: (t) => ({
    used: t.exposeInt('used'),
    limit: t.exposeInt('limit', { nullable: true, description: 'null: no limit of the plan.' }),
  }),
});

const PlanUseType = builder.objectRef<PlanUse>('PlanUse').implement({
  fields: (t) => ({
    apiKeys: t.field({ type: Held, description: 'Active keys of both modes.', resolve: ({ api_keys }) => api_keys }),
    domains: t.field({ type: Held, description: 'Without the sandbox domain.', resolve: ({ domains }) => domains }),
    webhooks: t.field({ type: Held, description: 'Of both modes.', resolve: ({ webhooks }) => webhooks }),
    members: t.field({ type: Held, resolve: ({ members }) => members }),
    workspaceRate: t.field({
      type: Held,
      description: 'Requests of all API keys in this minute, which are not counted without a limit.',
      resolve: ({ workspace_rate }) => workspace_rate,
    }),
    captureBytes: t.field({
      type: Held,
      description: 'Beyond the limit the oldest captured email is deleted.',
      resolve: ({ capture_bytes }) => capture_bytes,
    }),
  }),
});

export interface WorkspaceUsage extends MonthUsage {
  readonly workspace_id: string;
}

export const UsageType = builder.objectRef<WorkspaceUsage>('Usage').implement({
  description: 'Mails of a calendar month in UTC, counted per unique recipient.',
  fields: (t) => ({
    month: t.exposeString('month'),
    sent: t.int({ resolve: ({ used }) => used }),
    limit: t.exposeInt('limit', { nullable: true, description: 'null: the plan has no monthly limit.' }),
    remaining: t.exposeInt('remaining', { nullable: true }),
    projectedEndOfMonth: t.int({
      nullable: true,
      description: 'sent, extrapolated to the end of the month.',
      resolve: ({ projected_end_of_month }) => projected_end_of_month,
    }),
    byDay: t.field({
      type: [StatPoint],
      resolve: ({ by_day }) => by_day.map(({ date, used }) => ({ at: `${date}T00:00:00.000Z`, value: used })),
    }),
    planUse: t.field({
      type: PlanUseType,
      description: 'What the workspace has now of what its plan limits.',
      resolve: ({ workspace_id }, _, { load }) => load.planUses.load(workspace_id),
    }),
  }),
});
