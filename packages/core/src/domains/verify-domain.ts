import { sqlState } from '@postrider/db';
import { z } from 'zod';
import type { ActorContext } from '../context.ts';
import { recordEvent } from '../events/store.ts';
import { newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { domainClaimed } from './add-domain.ts';
import { type CheckedRecord, checkRecords, proofOf, reasonOf } from './check-records.ts';
import { checkName, type DomainEntry, domainEntry, domainNotFound, domainSchema, siteOf } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { domainTransitions, judgeProof } from './state.ts';
import { type CheckedFacts, type DomainRow, lockDomain, moveDomain, publicKeysOf, recordCheck } from './store.ts';

const UNIQUE_VIOLATION = '23505';

/** Looks up the records now. What is right verifies the domain, unless another workspace has. */
export const verifyDomain = operation({
  name: 'domains.verify',
  scope: 'domains:write',
  summary: 'Check the records of a domain in the DNS now',
  input: z.object({ domain: domainParameter }),
  output: domainSchema,
  async run(ctx, { domain }): Promise<DomainEntry> {
    const found = await findDomain(ctx, domain);
    const keys = await publicKeysOf(ctx.sql, [found.id]);
    if (found.sandbox) return domainEntry(found, keys, ctx);
    const checked = await checkRecords(ctx.dns, found, keys, siteOf(ctx.config, ctx.public_url));
    const row = await applyCheck(ctx, found, checked);
    return domainEntry(row, keys, ctx);
  },
});

/** Records what was seen, and moves the domain where that proves or refutes it. No lookup happens in here. */
async function applyCheck(ctx: ActorContext, found: DomainRow, checked: readonly CheckedRecord[]): Promise<DomainRow> {
  const facts = factsOf(found, checked);
  try {
    return await ctx.sql.begin(async (tx) => {
      const before = await lockDomain(tx, found.id);
      if (!before) throw domainNotFound(found.name);
      const name = judgeProof(before.status, proofOf(checked), before.in_state_ms);
      const seen = await recordCheck(tx, found.id, facts);
      const moved = name && (await moveDomain(tx, name, found.id));
      if (moved) {
        const { id, status, status_reason } = moved;
        await recordEvent(tx, {
          workspace_id: found.workspace_id,
          id: newId('event', ctx.clock.now()),
          type: domainTransitions[name].event,
          facts: { domain: { id, name: moved.name, status, status_reason } },
        });
      }
      const row = moved || seen;
      if (!row) throw domainNotFound(found.name);
      return row;
    });
  } catch (error) {
    // domains_claim: the records are right, and those of another workspace were right before.
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    await recordCheck(ctx.sql, found.id, { ...facts, status_reason: 'Another workspace has verified this name.' });
    throw domainClaimed(found.name);
  }
}

function factsOf(found: DomainRow, checked: readonly CheckedRecord[]): CheckedFacts {
  const checks = Object.fromEntries(
    checked.map(({ wanted, status, found }) => [checkName(wanted), { status, found }] as const),
  );
  const return_path = checked.find(({ wanted }) => wanted.purpose === 'return_path');
  return {
    checks: JSON.stringify(checks),
    status_reason: reasonOf(checked),
    signing_key_ids: signingKeys(found, checked),
    return_path_ready: return_path && return_path.status !== 'lookup_error' ? return_path.status === 'ok' : null,
  };
}

/** Keys that are required sign always. Others sign once their record is right, so that no signature is without one. */
function signingKeys(found: DomainRow, checked: readonly CheckedRecord[]): string[] {
  return checked.flatMap(({ wanted, status }) => {
    const { key_id } = wanted;
    if (key_id === undefined) return [];
    const signs =
      wanted.required || status === 'ok' || (status === 'lookup_error' && found.signing_key_ids.includes(key_id));
    return signs ? [key_id] : [];
  });
}
