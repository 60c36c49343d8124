import { type CurrentKey, currentKey } from '@postrider/core/api-keys';
import { getUsage, type Usage } from '@postrider/core/usage';
import { builder } from '../builder.ts';
import { call } from '../from-operation.ts';
import { ApiKey } from './refs.ts';

const DayUsage = builder.objectRef<Usage['by_day'][number]>('DayUsage').implement({
  fields: (t) => ({ date: t.exposeString('date'), sent: t.int({ resolve: ({ used }) => used }) }),
});

export const UsageType = builder.objectRef<Usage>('Usage').implement({
  description: 'Mails of the month, counted per unique recipient.',
  fields: (t) => ({
    month: t.exposeString('month', { description: 'The calendar month in UTC.' }),
    sent: t.int({ resolve: ({ used }) => used }),
    limit: t.exposeInt('limit', { nullable: true, description: 'null: the plan has no monthly limit.' }),
    remaining: t.exposeInt('remaining', { nullable: true }),
    resetsAt: t.field({ type: 'DateTime', resolve: ({ resets_at }) => resets_at }),
    byDay: t.field({ type: [DayUsage], resolve: ({ by_day }) => by_day }),
  }),
});

const Viewer = builder.objectRef<CurrentKey>('Viewer').implement({
  description: 'Who asks.',
  fields: (t) => ({
    key: t.field({ type: ApiKey, resolve: (key) => key }),
    scopes: t.stringList({ resolve: ({ scopes }) => scopes }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({ type: Viewer, resolve: (_, __, g) => call(g, currentKey, {}) }),
  usage: t.field({
    type: UsageType,
    description: 'What the workspace has sent this month, and how much is left of its plan.',
    resolve: (_, __, g) => call(g, getUsage, {}),
  }),
}));
