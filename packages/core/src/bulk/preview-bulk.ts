import { type Sql, transactionTime } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { idPrefixes, newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField, timeField } from '../wire.ts';
import { bulkActions, type Errand } from './errand.ts';
import { type Plan, planOf } from './plan.ts';
import { writeToken } from './preview-token.ts';
import { requireTarget } from './target.ts';

// What somebody waits for, however much mail there is: about a tenth of a second, and half of one on a busy machine.
const MOST_COUNTED = 10_000;
const MOST_PASSED_OVER = 10_000;
const SAMPLE = 10;
// A step of a walk looks at about a thousand, and may find none of them to pass.
const SAMPLE_STEPS = 10;
const VALID_MS = 15 * 60_000;

const bulkPreviewSchema = z
  .object({
    object: z.literal('bulk_preview'),
    action: z.enum(bulkActions),
    token: z.string().meta({ description: 'Starts exactly this with bulk.run, once, by whoever previewed it.' }),
    expires_at: timeField,
    cutoff_at: timeField.meta({ description: 'Nothing that comes at this time or later will be touched.' }),
    matched: z.int(),
    matched_exact: z.boolean().meta({ description: `false where the count stopped at ${MOST_COUNTED}.` }),
    sample: z
      .array(z.string())
      .readonly()
      .meta({ description: `Ids of the first ${SAMPLE}.` }),
    skipped: z
      .array(z.object({ reason: z.string(), count: z.int(), exact: z.boolean() }))
      .readonly()
      .meta({ description: 'What the filter finds and the action passes over.' }),
    warning: z.string().nullable(),
  })
  .meta({ id: 'BulkPreview' });
export type BulkPreview = z.output<typeof bulkPreviewSchema>;

/** Shows what an action would be done to, and freezes that in a token. Nothing is done yet. */
export const previewBulk = operation({
  name: 'bulk.preview',
  // admin for what is the actor's own workspace's, operator for anything else; requireTarget knows.
  scope: null,
  summary: 'Show what an action would be done to',
  input: z.object({
    action: z.enum(bulkActions),
    filter: z
      .record(z.string(), z.unknown())
      .meta({ description: 'That of the log; for replay and redrive, that of deliveries and jobs.' }),
    workspace_id: idField(idPrefixes.workspace).optional().meta({ description: 'Another workspace, as an operator.' }),
  }),
  output: bulkPreviewSchema,
  async run(ctx, { action, filter, workspace_id: asked }): Promise<BulkPreview> {
    const workspace_id = await requireTarget(ctx, action, asked);
    const cutoff_at = await transactionTime(ctx.sql);
    const errand: Errand = { workspace_id, action, filter, cutoff_at, actor: ctx.actor };
    const plan = planOf(errand);
    await plan.check(ctx);
    const [matched, passed, sample] = await Promise.all([
      plan.count(ctx.sql, Math.min(MOST_COUNTED, plan.most)),
      plan.passedOver(ctx.sql, MOST_PASSED_OVER),
      sampleOf(ctx.sql, plan),
    ]);
    const expires_at = new Date(cutoff_at.getTime() + VALID_MS);
    const bounded = !matched.exact && Number.isFinite(plan.most);
    const warnings = bounded
      ? [...plan.warnings, `It ends after ${plan.most} at the latest; narrow the filter where there is more.`]
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
        expires_at,
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
    const found = await plan.next(sql, position, SAMPLE - sample.length);
    sample.push(...found.ids);
    position = found.position;
    if (position === null || sample.length >= SAMPLE) break;
  }
  return sample;
}
