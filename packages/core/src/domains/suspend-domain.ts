import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { operation } from '../operation.ts';
import { type DomainEntry, domainEntry, domainNotFound, domainSchema } from './domain-entry.ts';
import { domainParameter } from './find-domain.ts';
import type { DomainTransitionName } from './state.ts';
import { domainByName, moveDomain, publicKeysOf, scheduleCheck } from './store.ts';

const whichSchema = z.object({
  domain: domainParameter,
  workspace_id: z.string().optional().meta({ description: 'Whose; the own one where it is left out.' }),
});

/** Stops a domain, whatever its records say: nothing is accepted from it, and what waits is not sent. */
export const suspendDomain = operation({
  name: 'domains.suspend',
  scope: 'operator',
  summary: 'Stop a domain from sending until it is resumed',
  input: whichSchema.extend({ reason: z.string().trim().min(1).max(200) }),
  output: domainSchema,
  run: (ctx, { reason, ...which }) => move(ctx, which, 'suspend', `Suspended by an operator: ${reason}`, null),
});

/** Lets a suspended domain prove itself again; the next check, within a minute, does. */
export const resumeDomain = operation({
  name: 'domains.resume',
  scope: 'operator',
  summary: 'Let a suspended domain be verified again',
  input: whichSchema,
  output: domainSchema,
  run: (ctx, which) => move(ctx, which, 'resume', 'Resumed by an operator; its records are about to be checked.', 0),
});

async function move(
  ctx: ActorContext,
  which: z.output<typeof whichSchema>,
  transition: DomainTransitionName,
  reason: string,
  check_in_ms: number | null,
): Promise<DomainEntry> {
  const name = canonicalDomain(which.domain);
  const workspace_id = which.workspace_id ?? ctx.actor.workspace_id;
  const found = name === null ? null : await domainByName(ctx.sql, workspace_id, name);
  if (!found) throw domainNotFound(which.domain);
  if (found.sandbox) throw new AppError('domain_not_allowed', `${found.name} is the sandbox and stays as it is.`);
  const row = await ctx.sql.begin(async (tx) => {
    const moved = await moveDomain(tx, transition, found.id, reason);
    // Done twice, it is as it was asked to be.
    return moved ? scheduleCheck(tx, found.id, check_in_ms) : domainByName(tx, workspace_id, found.name);
  });
  if (!row) throw domainNotFound(which.domain);
  return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
}
