import { type CurrentKey, currentKey } from '@postrider/core/api-keys';
import { getMonthUsage } from '@postrider/core/usage';
import { builder } from '../builder.ts';
import { call } from '../from-operation.ts';
import { ApiKey } from './refs.ts';
import { UsageType } from './usage.ts';

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
    description: 'What the workspace of the key has sent in this month.',
    resolve: (_, __, g) => call(g, getMonthUsage, {}),
  }),
}));
