import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { usageOf, usageSchema } from '../usage/index.ts';
import { keyEntry, keySchema } from './key-entry.ts';
import { keyById, planOf } from './store.ts';

const currentKeySchema = keySchema.extend({
  plan: z.string(),
  limits: z.object({
    monthly_emails: z.int().nullable(),
    recipients_per_request: z.int(),
    send_per_minute: z.int(),
    logs_per_minute: z.int(),
    default_per_minute: z.int(),
  }),
  usage: usageSchema,
});
export type CurrentKey = z.output<typeof currentKeySchema>;

/** Returns the key of this request, with its permissions and the remaining limits of the plan. */
export const currentKey = operation({
  name: 'api_keys.current',
  scope: null,
  sandbox: true,
  summary: 'Get the API key used for this request, with its scopes, plan, limits and usage',
  reasons: ['api_key_not_found'],
  input: z.object({}),
  output: currentKeySchema,
  async run(ctx): Promise<CurrentKey> {
    const { actor } = ctx;
    if (actor.kind !== 'key') throw new AppError('api_key_not_found', 'This request was not made with an API key.');
    const [row, { plan, ...limits }, usage] = await Promise.all([
      keyById(ctx.sql, actor.workspace_id, null, actor.key_id),
      planOf(ctx.sql, actor.workspace_id, actor.mode),
      usageOf(ctx, actor.workspace_id),
    ]);
    if (!row) throw new Error('the authenticated key no longer exists');
    return { ...keyEntry(row), plan, limits, usage };
  },
});
