import { z } from 'zod';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { sideInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { chainField } from './chain.ts';
import { auditHead, type LinkRow, linksOf } from './store.ts';

const SLICE = 1000;
// A tenth of a second or two; whoever has more asks again from where this ended.
const MOST_SLICES = 20;

const verificationSchema = z.object({
  object: z.literal('audit_verification'),
  verified: z.int().meta({ description: 'Up to which place the chain has been found whole.' }),
  length: z.int().meta({ description: 'How long the chain was when the walk began.' }),
  complete: z.boolean().meta({ description: 'false: go on with after = verified, unless broken says where it ends.' }),
  head: z
    .string()
    .nullable()
    .meta({ description: 'The hash of the last entry: noted elsewhere, it vouches for all before.' }),
  broken: z
    .object({
      sequence: z.int(),
      id: idField(idPrefixes.audit).nullable(),
      problem: z.enum(['missing', 'changed', 'detached', 'replaced']).meta({
        description:
          'missing: no entry stands at this place. changed: its hash is not that of what it says. detached: it does not name the hash of the one before. replaced: the last entry is not the one that was appended last.',
      }),
    })
    .nullable()
    .meta({ description: 'The first entry that does not fit; null where all do.' }),
});
export type AuditVerification = z.output<typeof verificationSchema>;

/** Walks a chain from its beginning, or from behind a place, and names the first entry that does not fit. */
export const verifyAudit = operation({
  name: 'audit.verify',
  scope: null,
  summary: 'Whether the audit log is whole, or which entry is the first that does not fit',
  input: z.object({
    chain: chainField,
    after: z.int().min(0).default(0).meta({ description: 'verified of the answer before.' }),
  }),
  output: verificationSchema,
  async run(ctx, { chain, after }): Promise<AuditVerification> {
    const workspace_id = sideInReach(ctx, chain);
    // Read first: what is appended during the walk lies behind it and is left to the next.
    const head = await auditHead(ctx.sql, workspace_id);
    const answer = { object: 'audit_verification', length: head.sequence, head: head.hash || null } as const;
    let verified = Math.min(after, head.sequence);
    for (let slice = 0; slice < MOST_SLICES && verified < head.sequence; slice++) {
      const count = Math.min(SLICE, head.sequence - verified);
      const links = await linksOf(ctx.sql, workspace_id, verified, count);
      for (let step = 0; step < count; step++) {
        const sequence = verified + step + 1;
        const problem = problemOf(links[step], sequence, head);
        if (!problem) continue;
        const id = problem === 'missing' ? null : (links[step]?.id ?? null);
        return { ...answer, verified: sequence - 1, complete: true, broken: { sequence, id, problem } };
      }
      verified += count;
    }
    return { ...answer, verified, complete: verified === head.sequence, broken: null };
  },
});

type Problem = NonNullable<AuditVerification['broken']>['problem'];

function problemOf(
  link: LinkRow | undefined,
  sequence: number,
  head: { readonly sequence: number; readonly hash: string },
): Problem | null {
  if (link?.sequence !== sequence) return 'missing';
  if (!link.whole) return 'changed';
  if (!link.follows) return 'detached';
  return sequence === head.sequence && link.hash !== head.hash ? 'replaced' : null;
}
