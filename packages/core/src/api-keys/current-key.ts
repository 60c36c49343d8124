import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { usageOf, usageSchema } from '../usage/index.ts';
import { keyEntry, keySchema } from './key-entry.ts';
import { keyById, planOf } from './store.ts';

const currentKeySchema = keySchema.extend({
  plan: z.string().meta({ description: 'Plan of the workspace.' }),
  limits: z
    .object({
      monthly_emails: z.int().nullable().meta({ description: 'Emails per calendar month. null: no limit.' }),
      recipients_per_request: z.int().meta({ description: 'Maximum recipients of one email, across to, cc and bcc.' }),
      send_per_minute: z.int().meta({ description: 'Requests per minute in the `send` window.' }),
      logs_per_minute: z.int().meta({ description: 'Requests per minute in the `logs` window.' }),
      default_per_minute: z.int().meta({ description: 'Requests per minute in the `default` window.' }),
    })
    .meta({ description: 'Limits of the plan for this key.' }),
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
