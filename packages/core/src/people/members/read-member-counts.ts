import { z } from 'zod';
import { accessibleWorkspace } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { memberCountsOf } from '../store.ts';

const MAX_IDS = 100;

/** Returns how many members workspaces have, in the given order. */
export const readMemberCounts = operation({
  name: 'members.read_counts',
  scope: null,
  summary: 'Member counts of several workspaces',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(z.int()).readonly(),
  async run(ctx, { ids }): Promise<readonly number[]> {
    const counts = await memberCountsOf(
      ctx.sql,
      ids.map((id) => accessibleWorkspace(ctx, id)),
    );
    return ids.map((id) => counts.get(id) ?? 0);
  },
});
