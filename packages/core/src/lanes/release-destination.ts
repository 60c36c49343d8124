import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { destinationField, destinationNamed } from './destination.ts';
import { dropDestinationLimit } from './limit-store.ts';

/** Removes the limit from a destination. Idempotent. */
export const releaseDestination = operation({
  name: 'destinations.release',
  scope: 'operator',
  summary: 'Remove the limit of a destination',
  input: z.object({ destination: destinationField }),
  output: z.object({ destination: z.string(), released: z.boolean() }),
  async run(ctx, input): Promise<{ destination: string; released: boolean }> {
    const destination = destinationNamed(input.destination);
    const released = await ctx.sql.begin(async (tx) => {
      const dropped = await dropDestinationLimit(tx, destination);
      const fact = { action: 'destination.released', target_id: destination, workspace_id: INSTANCE } as const;
      if (dropped) await recordAudit(tx, ctx, [fact]);
      return dropped;
    });
    return { destination, released };
  },
});
