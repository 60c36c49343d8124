import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type DomainEntry, domainEntry, domainNotFound, domainSchema } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { generateInTurn } from './keys/generate-in-turn.ts';
import { encryptDkimKeys, generateEd25519, type KeyRole, otherSelector } from './records/dkim-keys.ts';
import { insertKeys, lockDomain, publicKeysOf, scheduleCheck } from './store.ts';

/**
 * Creates new keys under the other selector. The old keys sign until the new records have been visible for a day, and
 * their records stay for a week after that, so that every signature has a record.
 */
export const rotateKeys = operation({
  name: 'domains.rotate_keys',
  scope: 'domains:write',
  summary: 'Create new DKIM keys; they start signing once their records have been published for a day',
  reasons: ['domain_not_found', 'domain_not_allowed', 'rotation_in_progress', 'dkim_keys_busy'],
  input: z.object({ domain: domainParameter }),
  output: domainSchema,
  async run(ctx, { domain }): Promise<DomainEntry> {
    const domain_row = await findDomain(ctx, domain);
    if (domain_row.sandbox)
      throw new AppError('domain_not_allowed', `${domain_row.name} is the sandbox domain and has no DNS records.`);
    // Checked again under the lock. Here it saves generating a key that cannot be used.
    refuseDuringRotation(domain_row.name, await publicKeysOf(ctx.sql, [domain_row.id]));
    const { rsa } = await generateInTurn(ctx, ctx.actor.workspace_id);
    const row = await ctx.sql.begin(async (tx) => {
      const before = await lockDomain(tx, domain_row.id);
      if (!before) throw domainNotFound(domain);
      const keys = await publicKeysOf(tx, [domain_row.id]);
      refuseDuringRotation(domain_row.name, keys);
      const [first] = keys;
      if (!first) throw new Error(`${domain_row.name} has no key`);
      // The Ed25519 key is generated here because that takes microseconds, and the setting may have changed while the
      // RSA key was generated.
      const pairs = { rsa, ed25519: before.dkim_ed25519 ? await generateEd25519() : null };
      const new_keys = encryptDkimKeys(ctx.encryption, pairs, ctx.clock.now(), otherSelector(first.selector), 'next');
      await insertKeys(tx, domain_row, new_keys);
      const scheduled = await scheduleCheck(tx, domain_row.id, before.status === 'suspended' ? null : 0);
      const diff = { name: domain_row.name, selector: [first.selector, new_keys[0].selector] };
      await recordAudit(tx, ctx, [{ action: 'domain.keys_rotated', target_id: domain_row.id, diff }]);
      return scheduled;
    });
    if (!row) throw domainNotFound(domain);
    return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
  },
});

function refuseDuringRotation(name: string, keys: readonly { readonly role: KeyRole }[]): void {
  const busy = keys.find((key) => key.role !== 'active');
  if (!busy) return;
  const reason =
    busy.role === 'next'
      ? 'the new keys are waiting for their DNS records. Publish the records from GET /v1/domains/{domain}.'
      : 'email signed with the previous keys may still be in transit. Wait a week after their last signature.';
  throw new AppError('rotation_in_progress', `A key rotation of ${name} is in progress: ${reason}`);
}
