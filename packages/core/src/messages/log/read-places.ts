import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { placesInLine } from './line-store.ts';
import { type RecipientRow, recipientsOf } from './log-store.ts';
import { waitingReason } from './waiting.ts';

const MAX_IDS = 100;

const placesSchema = z.array(
  z.object({ recipient_id: z.string(), ahead: z.int().nullable(), eta_seconds: z.int().nullable() }),
);
export type Places = z.output<typeof placesSchema>;

/** Returns queue positions per message, without recipients that are not queued. */
export const readPlaces = operation({
  name: 'email.places',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Queue positions of recipients',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(placesSchema.readonly()).readonly(),
  async run(ctx, { ids }): Promise<readonly Places[]> {
    const { workspace_id } = ctx.actor;
    const recipients = await recipientsOf(ctx.sql, workspace_id, [...(await accessibleMail(ctx, ids))]);
    const places: Places[] = [];
    // Sequential: each count runs up to a limit, and in parallel they would use every connection.
    for (const id of ids) {
      const people = await withPlaces(ctx.sql, workspace_id, recipients.get(id) ?? []);
      places.push(
        people.map(({ id: recipient_id, ahead = null, eta_seconds = null }) => ({ recipient_id, ahead, eta_seconds })),
      );
    }
    return places;
  },
});

/** Adds queue positions to the recipients of one message; lists omit them. */
export async function withPlaces(
  sql: Sql,
  workspace_id: string,
  people: readonly RecipientRow[],
): Promise<readonly RecipientRow[]> {
  const waiting = people.filter((row) => waitingReason(row)?.reason === 'in_line');
  if (waiting.length === 0) return people;
  const places = await placesInLine(sql, workspace_id, waiting);
  return people.map((row) => ({ ...row, ...places.get(row.id) }));
}
