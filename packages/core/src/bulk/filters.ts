import { z } from 'zod';
import { idPrefixes } from '../ids.ts';
import { filterFields } from '../messages/index.ts';
import { parseInput } from '../parse-input.ts';
import { queueNames } from '../queues/index.ts';
import { timestampField } from '../timestamp-field.ts';
import { deliveryStatusField } from '../webhooks/index.ts';
import { idField } from '../wire.ts';

// A name that is not known would ask nothing, and so mean everything: it is refused.

/** The filter of the log. */
export const messageFilterSchema = z.strictObject(filterFields);

export const deliveryFilterSchema = z.strictObject({
  webhook_id: idField(idPrefixes.webhook),
  status: deliveryStatusField.optional().meta({ description: 'failed where none is named; what is pending stays.' }),
  since: timestampField('since').optional().meta({ description: 'Events of this time or later.' }),
  until: timestampField('until').optional().meta({ description: 'Events before this time.' }),
});

export const jobFilterSchema = z.strictObject({
  queue: z.enum(queueNames),
  since: timestampField('since').optional().meta({ description: 'Died at this time or later.' }),
  until: timestampField('until').optional().meta({ description: 'Died before this time.' }),
});

export function parseFilter<I extends z.ZodType>(schema: I, raw: unknown): z.output<I> {
  const parsed = parseInput(schema, raw);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

export function earlierOf(left: Date | undefined, right: Date): Date {
  return left && left < right ? left : right;
}
