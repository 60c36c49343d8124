import { z } from 'zod';
import { keyDomainProblem } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { deletedField, objectName } from '../fields/wire.ts';
import type { KeyActor } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { domainNotFound } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { deleteDomain } from './store.ts';

// A request that read the domain before its removal stores its message within seconds.
const SECOND_SWEEP_MS = 60_000;

const removedSchema = z.object({
  object: objectName('domain'),
  name: z.string().meta({ description: 'In lowercase ASCII (Punycode).' }),
  deleted: deletedField,
});
export type RemovedDomain = z.output<typeof removedSchema>;

/** Rejects a key that could not send from the domain, because removing a domain cancels its messages. */
function refuseRestricted({ domains }: KeyActor, name: string): void {
  const restricted = keyDomainProblem(domains, name);
  if (restricted) throw restricted;
}

/** Removes a domain and its keys and, in the same transaction, enqueues a job that cancels its open messages. */
export const removeDomain = operation({
  name: 'domains.remove',
  scope: 'domains:write',
  summary: 'Remove a domain and cancel its pending email',
  reasons: ['domain_not_found', 'key_domain_restricted', 'domain_not_allowed', 'reauthentication_required'],
  input: z.object({ domain: domainParameter }),
  output: removedSchema,
  async run(ctx, { domain }): Promise<RemovedDomain> {
    await requireFreshSignIn(ctx);
    const { id, name, workspace_id, sandbox, status } = await findDomain(ctx, domain);
    if (ctx.actor.kind === 'key') refuseRestricted(ctx.actor, name);
    if (sandbox) throw new AppError('domain_not_allowed', `${name} is the sandbox domain and cannot be removed.`);
    // Otherwise removing and re-adding the domain would undo the suspension.
    if (status === 'suspended') throw new AppError('domain_not_allowed', `${name} is suspended and cannot be removed.`);
    await ctx.sql.begin(async (tx) => {
      if (!(await deleteDomain(tx, id))) throw domainNotFound(domain);
      const data = { workspace_id, domain: name };
      await ctx.jobs.send(tx, 'domain.cancel_mail', [
        { data },
        { data, start_after: new Date(ctx.clock.now() + SECOND_SWEEP_MS) },
      ]);
      await recordAudit(tx, ctx, [{ action: 'domain.removed', target_id: id, diff: { name, status } }]);
    });
    return { object: 'domain', name, deleted: true };
  },
});
