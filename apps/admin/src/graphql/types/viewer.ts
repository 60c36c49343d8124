import { isoTime } from '@postrider/core';
import { type CurrentKey, currentKey } from '@postrider/core/api-keys';
import { getMonthUsage, QUERY_BUDGET } from '@postrider/core/usage';
import { getWorkspace } from '@postrider/core/workspaces';
import type { CostMeter } from '../cost/cost-meter.ts';
import { builder } from '../kit/builder.ts';
import { call } from '../kit/from-operation.ts';
import { ApiKey } from '../kit/refs.ts';
import { UsageType, type WorkspaceUsage } from '../kit/usage.ts';
import { Workspace } from './workspaces.ts';

const RateLimit = builder.objectRef<CostMeter>('RateLimit').implement({
  description:
    'The requested cost of this request and the remaining budget of its key. extensions.cost in the response has the actual cost.',
  fields: (t) => ({
    cost: t.int({
      description: 'The requested cost of this request, in points.',
      resolve: ({ reported, requested }) => reported ?? requested,
    }),
    limit: t.int({ description: 'The budget of the key, in points.', resolve: ({ charged }) => charged.window.limit }),
    remaining: t.int({ description: 'Points left in the budget.', resolve: ({ charged }) => charged.window.remaining }),
    resetAt: t.field({
      type: 'DateTime',
      description: 'When the budget is full again, if nothing more is spent.',
      resolve: ({ charged }) => isoTime(charged.reset_at_ms),
    }),
    restorePerSecond: t.int({ description: 'Points restored per second.', resolve: () => QUERY_BUDGET.per_second }),
  }),
});

interface Caller {
  readonly key: CurrentKey | null;
  readonly scopes: readonly string[];
}

const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'The caller.',
  fields: (t) => ({
    key: t.field({
      type: ApiKey,
      nullable: true,
      description: 'null: a signed-in user.',
      resolve: ({ key }) => key,
    }),
    rateLimit: t.field({
      type: RateLimit,
      description: 'The cost of this request and the remaining budget.',
      args: {
        dryRun: t.arg.boolean({
          defaultValue: false,
          description: 'Returns only the cost of the request. This costs one point.',
        }),
      },
      resolve: (_, __, { cost }) => cost,
    }),
    scopes: t.stringList({ description: 'The permissions of the caller.', resolve: ({ scopes }) => [...scopes] }),
    workspace: t.field({
      type: Workspace,
      description: 'The workspace of the caller.',
      resolve: (_, __, g) => call(g, getWorkspace, {}),
    }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description: 'The key or user that sends this request.',
    async resolve(_, __, g): Promise<Caller> {
      const { actor } = g.ctx;
      if (actor.kind === 'user') return { key: null, scopes: actor.scopes };
      const key = await call(g, currentKey, {});
      return { key, scopes: key.scopes };
    },
  }),
  usage: t.field({
    type: UsageType,
    description: 'Email volume of the workspace this month.',
    async resolve(_, __, g): Promise<WorkspaceUsage> {
      return { ...(await call(g, getMonthUsage, {})), workspace_id: g.ctx.actor.workspace_id };
    },
  }),
}));
