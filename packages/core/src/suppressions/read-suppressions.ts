import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { suppressionsByEmails, suppressionsByIds } from './store.ts';
import { suppressionEntry, suppressionSchema } from './suppression-entry.ts';

const MAX_IDS = 1000;
const output = z.array(suppressionSchema.nullable()).readonly();

/** Returns suppressions by id, in the given order; null for those that are expired or outside the workspace. */
export const readSuppressions = operation({
  name: 'suppressions.read_many',
  scope: 'email:logs:read',
  summary: 'Suppressions by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output,
  async run(ctx, { ids }) {
    const rows = await suppressionsByIds(ctx.sql, ctx.actor.workspace_id, ids);
    const by_id = new Map(rows.map((row) => [row.id, suppressionEntry(row)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Returns the suppressions of addresses, in the given order and in any spelling. */
export const readSuppressionsByEmail = operation({
  name: 'suppressions.read_addressed',
  scope: 'email:logs:read',
  summary: 'Suppressions of several addresses',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output,
  async run(ctx, { ids }) {
    const rows = await suppressionsByEmails(ctx.sql, ctx.actor.workspace_id, ids);
    const by_email = new Map(rows.map((row) => [row.email, suppressionEntry(row)]));
    return ids.map((email) => by_email.get(email.toLowerCase()) ?? null);
  },
});
