import type { MonthUsage, PlanUse } from '@postrider/core/usage';
import { builder } from './builder.ts';
import { StatPoint } from './stat-point.ts';

const Held = builder.objectRef<PlanUse['domains']>('PlanUseOf').implement({
  description: 'The use of one resource that the plan limits.',
  fields: (t) => ({
    used: t.exposeInt('used', { description: 'Current use, in the unit of the limit.' }),
    limit: t.exposeInt('limit', { nullable: true, description: 'null: no limit.' }),
  }),
});

const PlanUseType = builder.objectRef<PlanUse>('PlanUse').implement({
  description: 'Current use of the resources that the plan limits.',
  fields: (t) => ({
    apiKeys: t.field({ type: Held, description: 'Active live and sandbox keys.', resolve: ({ api_keys }) => api_keys }),
    domains: t.field({
      type: Held,
      description: 'Not counting the sandbox domain.',
      resolve: ({ domains }) => domains,
    }),
    webhooks: t.field({ type: Held, description: 'Live and sandbox webhooks.', resolve: ({ webhooks }) => webhooks }),
    members: t.field({ type: Held, description: 'Members of the workspace.', resolve: ({ members }) => members }),
    workspaceRate: t.field({
      type: Held,
      description: 'Requests from all API keys this minute. Not counted if there is no limit.',
      resolve: ({ workspace_rate }) => workspace_rate,
    }),
    captureBytes: t.field({
      type: Held,
      description: 'Above the limit, the oldest captured email is deleted.',
      resolve: ({ capture_bytes }) => capture_bytes,
    }),
  }),
});

export interface WorkspaceUsage extends MonthUsage {
  readonly workspace_id: string;
}

export const UsageType = builder.objectRef<WorkspaceUsage>('Usage').implement({
  description: 'Emails per calendar month (UTC), counted by unique recipient.',
  fields: (t) => ({
    month: t.exposeString('month', { description: 'The calendar month in UTC, such as 2030-01.' }),
    sent: t.int({
      description:
        'Emails accepted in the month, by recipient, without those canceled before their first attempt, by unique recipient.',
      resolve: ({ used }) => used,
    }),
    limit: t.exposeInt('limit', { nullable: true, description: 'null: the plan has no monthly limit.' }),
    remaining: t.exposeInt('remaining', {
      nullable: true,
      description: 'Emails left in the month; null: no monthly limit.',
    }),
    projectedEndOfMonth: t.int({
      nullable: true,
      description: 'Projected for the whole month.',
      resolve: ({ projected_end_of_month }) => projected_end_of_month,
    }),
    byDay: t.field({
      type: [StatPoint],
      description: 'Emails per day (UTC).',
      resolve: ({ by_day }) => by_day.map(({ date, used }) => ({ at: `${date}T00:00:00.000Z`, value: used })),
    }),
    planUse: t.field({
      type: PlanUseType,
      description: 'Current use of the resources that the plan limits.',
      resolve: ({ workspace_id }, _, { load }) => load.planUses.load(workspace_id),
    }),
  }),
});
