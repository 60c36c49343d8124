import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { mailInReach } from '../reach.ts';
import { placesInLine } from './line-store.ts';
import { type RecipientRow, recipientsOf } from './log-store.ts';
import { waitingReason } from './waiting.ts';

const MOST = 100;

const placesSchema = z.array(
  z.object({ recipient_id: z.string(), ahead: z.int().nullable(), eta_seconds: z.int().nullable() }),
);
export type Places = z.output<typeof placesSchema>;

/** Where the recipients of some messages stand in line, message by message; none for those who wait for something else. */
export const readPlaces = operation({
  name: 'email.places',
  scope: 'email:logs:read',
  summary: 'How many stand in line before the recipients of some emails',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(placesSchema.readonly()).readonly(),
  async run(ctx, { ids }): Promise<readonly Places[]> {
    const { workspace_id } = ctx.actor;
    const recipients = await recipientsOf(ctx.sql, workspace_id, [...(await mailInReach(ctx, ids))]);
    const places: Places[] = [];
    // One after the other: each counts up to a bound, and together they would take every connection.
    for (const id of ids) {
      const people = await withPlaces(ctx.sql, workspace_id, recipients.get(id) ?? []);
      places.push(
        people.map(({ id: recipient_id, ahead = null, eta_seconds = null }) => ({ recipient_id, ahead, eta_seconds })),
      );
    }
    return places;
  },
});

/** Tells those of one message who stand in line how many stand before them; lists do without. */
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
