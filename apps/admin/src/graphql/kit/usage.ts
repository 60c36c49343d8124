import type { MonthUsage } from '@postrider/core/usage';
import { builder } from './builder.ts';
import { StatPoint } from './stat-point.ts';

export const UsageType = builder.objectRef<MonthUsage>('Usage').implement({
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
  }),
});
