import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { destinationField, destinationNamed } from './destination.ts';
import { type DestinationLimit, destinationLimit, putDestinationLimit } from './limit-store.ts';

const MAX_LIMIT = 1_000_000;

export const destinationLimitSchema = z.object({
  destination: z.string(),
  connections: z.int().nullable().meta({ description: 'Concurrent emails across all workers.' }),
  messages_per_minute: z.int().nullable(),
});

/** Limits the rate or the number of connections to a destination. Takes effect on every worker within two seconds. */
export const limitDestination = operation({
  name: 'destinations.limit',
  scope: 'operator',
  summary: 'Limit the sending rate to a destination',
  input: z.object({
    destination: destinationField,
    connections: z.int().min(1).max(MAX_LIMIT).optional(),
    messages_per_minute: z.int().min(1).max(MAX_LIMIT).optional(),
  }),
  output: destinationLimitSchema,
  async run(ctx, { destination, connections = null, messages_per_minute = null }): Promise<DestinationLimit> {
    if (connections === null && messages_per_minute === null) {
      throw new AppError('missing_field', 'Set connections, messages_per_minute or both.');
    }
    const limit = { destination: destinationNamed(destination), connections, messages_per_minute };
    await ctx.sql.begin(async (tx) => {
      const before = await destinationLimit(tx, limit.destination);
      await putDestinationLimit(tx, limit);
      const diff = changesOf(before ?? { connections: null, messages_per_minute: null }, limit, [
        'connections',
        'messages_per_minute',
      ]);
      const fact = { action: 'destination.limited', target_id: limit.destination, workspace_id: INSTANCE } as const;
      await recordAudit(tx, ctx, [{ ...fact, ...(diff && { diff }) }]);
    });
    return limit;
  },
});
