import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField } from '../../fields/wire.ts';
import { filterFields } from '../../messages/index.ts';
import { parseInput } from '../../operation/parse-input.ts';
import { queueNames } from '../../queues/index.ts';
import { deliveryStatusField } from '../../webhooks/index.ts';

// Unknown names are rejected: if ignored, they would match everything.

export const messageFilterSchema = z.strictObject(filterFields);

export const deliveryFilterSchema = z.strictObject({
  webhook_id: idField(idPrefixes.webhook),
  status: deliveryStatusField.optional().meta({ description: 'Default: failed. Pending ones are not affected.' }),
  since: timestampField('since').optional().meta({ description: 'Events at or after this time.' }),
  until: timestampField('until').optional().meta({ description: 'Events before this time.' }),
});

export const jobFilterSchema = z.strictObject({
  queue: z.enum(queueNames),
  since: timestampField('since').optional().meta({ description: 'Died at or after this time.' }),
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
