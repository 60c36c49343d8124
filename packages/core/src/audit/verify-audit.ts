import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName } from '../fields/wire.ts';
import { accessibleSide } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { chainField } from './chain.ts';
import { auditHead, type LinkRow, linksOf } from './store.ts';

const SLICE = 1000;
// About 0.1 to 0.2 s per request; for longer chains, the client continues from the last verified sequence.
const MAX_SLICES = 20;

const verificationSchema = z.object({
  object: objectName('audit_verification'),
  verified: z.int().meta({ description: 'The sequence number up to which the chain is intact.' }),
  length: z.int().meta({ description: 'Length of the chain when the check began.' }),
  complete: z.boolean().meta({ description: 'false: continue with after = verified, unless broken is set.' }),
  head: z.string().nullable().meta({
    description:
      'The hash of the last entry. Store it elsewhere to detect later changes to this entry or any earlier one.',
  }),
  broken: z
    .object({
      sequence: z.int(),
      id: idField(idPrefixes.audit).nullable(),
      problem: z.enum(['missing', 'changed', 'detached', 'replaced']).meta({
        description:
          'missing: no entry has this sequence. changed: its hash does not match its contents. detached: it does not refer to the hash of the entry before. replaced: the last entry is not the one that was appended last.',
      }),
    })
    .nullable()
    .meta({ description: 'The first broken entry, or null.' }),
});
export type AuditVerification = z.output<typeof verificationSchema>;

/** Verifies a chain from its beginning, or after a sequence, and returns the first broken entry. */
export const verifyAudit = operation({
  name: 'audit.verify',
  scope: null,
  summary: 'Verify the audit log hash chain and report the first broken entry',
  input: z.object({
    chain: chainField,
    after: z.int().min(0).default(0).meta({ description: 'verified from the previous response.' }),
  }),
  output: verificationSchema,
  async run(ctx, { chain, after }): Promise<AuditVerification> {
    const workspace_id = accessibleSide(ctx, chain);
    // Read first, so that entries appended during the check are left for the next one.
    const head = await auditHead(ctx.sql, workspace_id);
    const response = { object: 'audit_verification', length: head.sequence, head: head.hash || null } as const;
    let verified = Math.min(after, head.sequence);
    for (let slice = 0; slice < MAX_SLICES && verified < head.sequence; slice++) {
      const count = Math.min(SLICE, head.sequence - verified);
      const links = await linksOf(ctx.sql, workspace_id, verified, count);
      for (let step = 0; step < count; step++) {
        const sequence = verified + step + 1;
        const problem = problemOf(links[step], sequence, head);
        if (!problem) continue;
        const id = problem === 'missing' ? null : (links[step]?.id ?? null);
        return { ...response, verified: sequence - 1, complete: true, broken: { sequence, id, problem } };
      }
      verified += count;
    }
    return { ...response, verified, complete: verified === head.sequence, broken: null };
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
