import { type CurrentKey, currentKey } from '@postrider/core/api-keys';
import { getMonthUsage } from '@postrider/core/usage';
import { getWorkspace } from '@postrider/core/workspaces';
import { builder } from '../builder.ts';
import { call } from '../from-operation.ts';
import { ApiKey } from './refs.ts';
import { UsageType } from './usage.ts';
import { Workspace } from './workspaces.ts';

const Viewer = builder.objectRef<CurrentKey>('Viewer').implement({
  description: 'Who asks.',
  fields: (t) => ({
    key: t.field({ type: ApiKey, resolve: (key) => key }),
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
