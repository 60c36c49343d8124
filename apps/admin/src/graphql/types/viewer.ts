import { isoTime } from '@postrider/core';
import { type CurrentKey, currentKey } from '@postrider/core/api-keys';
import { getMonthUsage, QUERY_BUDGET } from '@postrider/core/usage';
import { getWorkspace } from '@postrider/core/workspaces';
import { builder } from '../builder.ts';
import type { CostMeter } from '../cost.ts';
import { call } from '../from-operation.ts';
import { ApiKey } from './refs.ts';
import { UsageType } from './usage.ts';
import { Workspace } from './workspaces.ts';

const RateLimit = builder.objectRef<CostMeter>('RateLimit').implement({
  description:
    'What this request asks for, and what its key has left; extensions.cost of the answer tells what it got.',
  fields: (t) => ({
    cost: t.int({ resolve: ({ told, requested }) => told ?? requested }),
    limit: t.int({ resolve: ({ charged }) => charged.window.limit }),
    remaining: t.int({ resolve: ({ charged }) => charged.window.remaining }),
    resetAt: t.field({ type: 'DateTime', resolve: ({ charged }) => isoTime(charged.reset_at_ms) }),
    restorePerSecond: t.int({ resolve: () => QUERY_BUDGET.per_second }),
  }),
});

const Viewer = builder.objectRef<CurrentKey>('Viewer').implement({
  description: 'Who asks.',
  fields: (t) => ({
    key: t.field({ type: ApiKey, resolve: (key) => key }),
    rateLimit: t.field({
      type: RateLimit,
      args: {
        dryRun: t.arg.boolean({
          defaultValue: false,
          description: 'Only tells what the request would cost: nothing else of it is answered, and it takes a point.',
        }),
      },
      resolve: (_, __, { cost }) => cost,
    }),
    scopes: t.stringList({ resolve: ({ scopes }) => scopes }),
    workspace: t.field({ type: Workspace, resolve: (_, __, g) => call(g, getWorkspace, {}) }),
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
