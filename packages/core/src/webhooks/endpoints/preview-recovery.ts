import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idFloor, idPrefixes, idTime } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField, timeField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { readRecoverable } from '../deliveries/recovery-preview-store.ts';
import { requireEnabled } from './require-enabled.ts';

/** Each event costs two lookups by primary key. */
const MAX_EVENTS = 5000;

const previewSchema = z.object({
  matched: z.int().meta({ description: 'Events that would be delivered: their delivery failed or is missing.' }),
  matched_exact: z.boolean().meta({ description: `False if there are more than ${MAX_EVENTS} events to examine.` }),
  first_at: timeField.nullable().meta({ description: 'The time of the first such event.' }),
  last_at: timeField.nullable().meta({ description: 'The time of the last such event.' }),
  pending: z.int().meta({ description: 'Events whose delivery is pending, which a recovery leaves alone.' }),
  delivered: z.int().meta({ description: 'Events that were delivered, which a recovery leaves alone.' }),
});
export type RecoveryPreview = z.output<typeof previewSchema>;

/** Counts what a recovery since a time would deliver, among the first events of the range. */
export const previewRecovery = operation({
  name: 'webhooks.recovery_preview',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Preview which events a recovery would resend',
  input: z.object({ id: idField(idPrefixes.webhook), since: timestampField('since') }),
  output: previewSchema,
  async run(ctx, { id, since }): Promise<RecoveryPreview> {
    await requireEnabled(ctx, id);
    const { first_event_id, last_event_id, examined, ...counts } = await readRecoverable(ctx.sql, {
      workspace_id: ctx.actor.workspace_id,
      webhook_id: id,
      after: idFloor('event', since.getTime()),
      before: idFloor('event', (await ctx.sql.begin(transactionTime)).getTime()),
      count: MAX_EVENTS,
    });
    return {
      ...counts,
      matched_exact: examined < MAX_EVENTS,
      first_at: first_event_id && isoTime(idTime(first_event_id)),
      last_at: last_event_id && isoTime(idTime(last_event_id)),
    };
  },
});
