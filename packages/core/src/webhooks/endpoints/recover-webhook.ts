import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { absentable } from '../../fields/absentable.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField, timeField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { issueFor } from '../../operation/parse-input.ts';
import { requireEnabled } from './require-enabled.ts';

const recoverySchema = z.object({
  object: z.literal('webhook_recovery'),
  webhook_id: idField(idPrefixes.webhook),
  since: timeField,
  until: timeField,
  status: z.literal('started').meta({ description: 'The deliveries appear in the list as they are created.' }),
});
export type WebhookRecovery = z.output<typeof recoverySchema>;

/**
 * Delivers the events of a time range that the endpoint has not received: failed ones, or from while it was disabled.
 */
export const recoverWebhook = operation({
  name: 'webhooks.recover',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Post the events of a time range that the endpoint has not received',
  input: z
    .object({
      id: idField(idPrefixes.webhook),
      since: timestampField('since').meta({ description: 'Events from this time on.' }),
      until: absentable(timestampField('until')).meta({ description: 'Events before this time; default: now.' }),
    })
    .superRefine(({ since, until }, context) => {
      if (until && until <= since)
        context.addIssue(issueFor('invalid_timestamp', 'until must be later than since.', ['until']));
    }),
  output: recoverySchema,
  async run(ctx, { id, since, until }): Promise<WebhookRecovery> {
    const { workspace_id } = ctx.actor;
    await requireEnabled(ctx, id);
    const range = await ctx.sql.begin(async (tx) => {
      const end = until ?? (await transactionTime(tx));
      const asked = { since: isoTime(since), until: isoTime(end) };
      await ctx.jobs.send(tx, 'webhook.recover', [{ data: { workspace_id, webhook_id: id, ...asked } }]);
      await recordAudit(tx, ctx, [{ action: 'webhook.recovered', target_id: id, diff: asked }]);
      return asked;
    });
    return { object: 'webhook_recovery', webhook_id: id, ...range, status: 'started' };
  },
});
