import { z } from 'zod';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { entriesOf } from './entries-by-id.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';
import { workersSeen } from './log-store.ts';

const MAX_IDS = 1000;

/**
 * Returns messages by id, in the given order; null for those outside the workspace. Never runs on a replica, which may
 * still contain erased data.
 */
export const readMessages = operation({
  name: 'email.read_many',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Emails by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(logEntrySchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (LogEntry | null)[]> {
    const known = [...(await accessibleMail(ctx, ids))];
    const by_id = await entriesOf(ctx.sql, ctx.actor.workspace_id, known, await workersSeen(ctx));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
