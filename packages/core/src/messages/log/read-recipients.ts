import { z } from 'zod';
import { idFloor, idTime, isId } from '../../fields/ids.ts';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { entriesOf } from './entries-by-id.ts';
import { logEntrySchema } from './log-entry.ts';
import { readMessagesByRecipient } from './log-store.ts';

const MAX_IDS = 100;

/**
 * Returns the messages of recipients, in the given order. No index leads from a recipient to its message, but both ids
 * are created in the same millisecond, so only the messages of that millisecond are searched.
 */
export const readRecipients = operation({
  name: 'email.of_recipients',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Emails of several recipients',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(logEntrySchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const { workspace_id } = ctx.actor;
    const ranges = ids
      .filter((id) => isId('recipient', id))
      .map((id) => ({ id, from: idFloor('message', idTime(id)), before: idFloor('message', idTime(id) + 1) }));
    const owners = await readMessagesByRecipient(ctx.sql, workspace_id, ranges);
    const messages = await entriesOf(ctx.sql, workspace_id, [...(await accessibleMail(ctx, [...owners.values()]))]);
    return ids.map((id) => messages.get(owners.get(id) ?? '') ?? null);
  },
});
