import { z } from 'zod';
import { operation } from '../operation.ts';
import { mailInReach } from '../reach.ts';
import { entriesOf } from './entries-by-id.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';

const MOST = 1000;

/** Some messages by id, in the order asked for; null for what is not in the workspace. */
export const readMessages = operation({
  name: 'email.read_many',
  scope: 'email:logs:read',
  summary: 'Some emails by id',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(logEntrySchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (LogEntry | null)[]> {
    const found = await entriesOf(ctx.sql, ctx.actor.workspace_id, [...(await mailInReach(ctx, ids))]);
    return ids.map((id) => found.get(id) ?? null);
  },
});
