import { type Sql, transactionTime } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type BulkCommand, bulkActions } from './command.ts';
import type { Plan } from './plans/plan.ts';
import { planOf } from './plans/plan-of.ts';
import { VALID_MS, writeToken } from './preview-token.ts';
import { requireTarget } from './target.ts';

// Keeps a preview at about 0.1 s regardless of volume, 0.5 s on a busy machine.
const MAX_COUNTED = 10_000;
const MAX_SKIPPED = 10_000;
const SAMPLE = 10;
// One step of a walk reads about a thousand rows, possibly none of which match.
const SAMPLE_STEPS = 10;

const bulkPreviewSchema = z
  .object({
    object: objectName('bulk_preview'),
    action: z.enum(bulkActions),
    token: z.string().meta({ description: 'Pass to bulk.run to start exactly this, once, as the same actor.' }),
    expires_at: timeField,
    cutoff_at: timeField.meta({ description: 'Items created at or after this time will not be affected.' }),
    matched: z.int(),
    matched_exact: z.boolean().meta({ description: `false if the count stopped at ${MAX_COUNTED}.` }),
    sample: z
      .array(z.string())
      .readonly()
      .meta({ description: `Ids of the first ${SAMPLE}.` }),
    skipped: z
      .array(z.object({ reason: z.string(), count: z.int(), exact: z.boolean() }))
      .readonly()
      .meta({ description: 'Items that match the filter but are skipped by the action.' }),
    warning: z.string().nullable(),
  })
  .meta({ id: 'BulkPreview' });
export type BulkPreview = z.output<typeof bulkPreviewSchema>;

/** Counts and samples what an action would affect, and freezes the command in a token. Has no side effects. */
export const previewBulk = operation({
  name: 'bulk.preview',
  // Requires admin in the caller's own workspace, operator anywhere else; requireTarget decides.
  scope: null,
  summary: 'Preview a bulk operation',
  input: z.object({
    action: z.enum(bulkActions),
    filter: z.record(z.string(), z.unknown()).meta({
      description: 'A message log filter; for replay and redrive, a filter for webhook deliveries or jobs.',
    }),
    workspace_id: idField(idPrefixes.workspace).optional().meta({ description: 'Another workspace (operators only).' }),
  }),
  output: bulkPreviewSchema,
  async run(ctx, { action, filter, workspace_id: target_workspace }): Promise<BulkPreview> {
    const workspace_id = await requireTarget(ctx, action, target_workspace);
    const cutoff_at = await transactionTime(ctx.sql);
    const command: BulkCommand = { workspace_id, action, filter, cutoff_at, actor: ctx.actor };
    const plan = planOf(ctx, command);
    await plan.check(ctx);
    const [matched, passed, sample] = await Promise.all([
      plan.count(ctx.sql, Math.min(MAX_COUNTED, plan.most)),
      plan.passedOver(ctx.sql, MAX_SKIPPED),
      sampleOf(ctx.sql, plan),
    ]);
    const expires_at = new Date(cutoff_at.getTime() + VALID_MS);
    const bounded = !matched.exact && Number.isFinite(plan.most);
    const warnings = bounded
      ? [...plan.warnings, `It stops after ${plan.most} items. Narrow the filter if there are more.`]
      : plan.warnings;
    return {
      object: 'bulk_preview',
      action,
      token: writeToken(ctx, {
        id: newId('bulk', ctx.clock.now()),
        workspace_id,
        action,
        filter,
        cutoff_at,
        matched: matched.count,
        matched_exact: matched.exact,
      }),
      expires_at: isoTime(expires_at),
      cutoff_at: isoTime(cutoff_at),
      matched: matched.count,
      matched_exact: matched.exact,
      sample,
      skipped: passed.filter(({ count }) => count > 0),
      warning: warnings.length === 0 ? null : warnings.join(' '),
    };
  },
});

async function sampleOf(sql: Sql, plan: Plan): Promise<string[]> {
  const sample: string[] = [];
  let position: string | null = null;
  for (let step = 0; step < SAMPLE_STEPS; step++) {
    const batch = await plan.next(sql, position, SAMPLE - sample.length);
    sample.push(...batch.ids);
    position = batch.position;
    if (position === null || sample.length >= SAMPLE) break;
  }
  return sample;
}
