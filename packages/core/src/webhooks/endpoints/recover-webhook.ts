import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { absentable } from '../../fields/absentable.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { issueFor } from '../../operation/parse-input.ts';
import { countRejected } from '../../shares/index.ts';
import { deleteRecovery, insertRecovery } from '../deliveries/recovery-store.ts';
import { requireEnabled } from './require-enabled.ts';

const recoverySchema = z.object({
  object: objectName('webhook_recovery'),
  webhook_id: idField(idPrefixes.webhook),
  since: timeField.meta({ description: 'Start of the time range, inclusive.' }),
  until: timeField.meta({ description: 'End of the time range, exclusive.' }),
  status: z.literal('started').meta({ description: 'The deliveries appear in the list as they are created.' }),
});
export type WebhookRecovery = z.output<typeof recoverySchema>;

/**
 * Delivers the events of a time range that the endpoint has not received, because their delivery failed or the endpoint
 * was disabled. An endpoint can have only one open recovery at a time.
 */
export const recoverWebhook = operation({
  name: 'webhooks.recover',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Resend the events that the endpoint missed in a time range',
  reasons: ['invalid_timestamp', 'webhook_not_found', 'webhook_disabled', 'recovery_open'],
  input: z
    .object({
      id: idField(idPrefixes.webhook),
      since: timestampField('since').meta({ description: 'Events at or after this time.' }),
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
    const started = await ctx.sql.begin(async (tx) => {
      const end = until ?? (await transactionTime(tx));
      const range = { since: isoTime(since), until: isoTime(end) };
      const recovery = { workspace_id, webhook_id: id, ...range };
      if (!(await insertRecovery(tx, recovery))) {
        const live = await ctx.jobs.liveAbout(tx, 'webhook.recover', 'webhook_id', [id]);
        if (live.size > 0) {
          countRejected(ctx.metrics, 'webhook_recoveries')();
          throw recoveryOpen(id);
        }
        // The job of the open recovery was canceled or failed too often.
        await deleteRecovery(tx, id);
        await insertRecovery(tx, recovery);
      }
      await ctx.jobs.send(tx, 'webhook.recover', [{ data: recovery }]);
      await recordAudit(tx, ctx, [{ action: 'webhook.recovered', target_id: id, diff: range }]);
      return range;
    });
    ctx.jobs.wakeAll('webhook.recover');
    return { object: 'webhook_recovery', webhook_id: id, ...started, status: 'started' };
  },
});

function recoveryOpen(id: string): AppError {
  return new AppError(
    'recovery_open',
    `A recovery of ${id} is in progress. Retry after its deliveries have been created.`,
  );
}
