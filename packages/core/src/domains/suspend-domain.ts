import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { type AuditFact, recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type DomainEntry, domainEntry, domainNotFound, domainSchema } from './domain-entry.ts';
import { domainParameter } from './find-domain.ts';
import type { DomainTransitionName } from './state.ts';
import { domainByName, moveDomain, publicKeysOf, scheduleCheck } from './store.ts';

const whichSchema = z.object({
  domain: domainParameter,
  workspace_id: z.string().optional().meta({ description: 'The workspace of the domain. Default: your own.' }),
});

/** Suspends a domain regardless of its records: new messages are rejected, waiting ones are not sent. */
export const suspendDomain = operation({
  name: 'domains.suspend',
  scope: 'operator',
  summary: 'Stop a domain from sending until it is resumed',
  input: whichSchema.extend({ reason: z.string().trim().min(1).max(200) }),
  output: domainSchema,
  run: (ctx, { reason, ...target }) =>
    move(ctx, target, {
      transition: 'suspend',
      status_reason: `Suspended by an operator: ${reason}`,
      check_in_ms: null,
      action: 'domain.suspended',
      reason,
    }),
});

/** Ends a suspension; the next check, within a minute, verifies the domain again. */
export const resumeDomain = operation({
  name: 'domains.resume',
  scope: 'operator',
  summary: 'Allow a suspended domain to be verified again',
  input: whichSchema,
  output: domainSchema,
  run: (ctx, target) =>
    move(ctx, target, {
      transition: 'resume',
      status_reason: 'Resumed by an operator. Its DNS records are checked next.',
      check_in_ms: 0,
      action: 'domain.resumed',
      reason: null,
    }),
});

interface Lever {
  readonly transition: DomainTransitionName;
  readonly status_reason: string;
  readonly check_in_ms: number | null;
  readonly action: AuditFact['action'];
  readonly reason: string | null;
}

async function move(
  ctx: ActorContext,
  target: z.output<typeof whichSchema>,
  { transition, status_reason, check_in_ms, action, reason }: Lever,
): Promise<DomainEntry> {
  const name = canonicalDomain(target.domain);
  const workspace_id = target.workspace_id ?? ctx.actor.workspace_id;
  const existing = name === null ? null : await domainByName(ctx.sql, workspace_id, name);
  if (!existing) throw domainNotFound(target.domain);
  if (existing.sandbox)
    throw new AppError(
      'domain_not_allowed',
      `${existing.name} is the sandbox domain and cannot be suspended or resumed.`,
    );
  const row = await ctx.sql.begin(async (tx) => {
    const moved = await moveDomain(tx, transition, existing.id, status_reason);
    // Idempotent.
    if (!moved) return domainByName(tx, workspace_id, existing.name);
    const scheduled = await scheduleCheck(tx, existing.id, check_in_ms);
    const diff = { name: existing.name, status: [existing.status, moved.status] };
    const fact = { action, target_id: existing.id, diff, reason };
    // An operator acts from outside the workspace, so both audit chains record it.
    await recordAudit(tx, ctx, [
      { ...fact, workspace_id },
      { ...fact, workspace_id: INSTANCE },
    ]);
    return scheduled;
  });
  if (!row) throw domainNotFound(target.domain);
  return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
}
