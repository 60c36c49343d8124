import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { ed25519Field, returnPathField, returnPathOf } from './add-domain.ts';
import { type DomainEntry, domainEntry, domainNotFound, domainSchema } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { encryptDkimKey, generateEd25519, secondSelector } from './records/dkim-keys.ts';
import {
  changeDomain,
  type DomainRow,
  deleteKeys,
  giveRole,
  insertKeys,
  lockDomain,
  type PublicKeyRow,
  publicKeysOf,
  scheduleCheck,
} from './store.ts';

/** Changes the given fields; the resulting records are looked up soon afterwards. */
export const updateDomain = operation({
  name: 'domains.update',
  scope: 'domains:write',
  summary: "Update a domain's return path or second DKIM signature",
  reasons: ['invalid_domain', 'domain_not_found', 'domain_not_allowed'],
  input: z.object({
    domain: domainParameter,
    return_path: returnPathField,
    dkim_ed25519: ed25519Field,
  }),
  output: domainSchema,
  async run(ctx, { domain, return_path: path_input, dkim_ed25519: second }): Promise<DomainEntry> {
    const domain_row = await findDomain(ctx, domain);
    if (domain_row.sandbox)
      throw new AppError('domain_not_allowed', `${domain_row.name} is the sandbox domain and has no DNS records.`);
    const path = path_input === undefined ? undefined : returnPathOf(path_input, domain_row.name);
    const row = await ctx.sql.begin(async (tx) => {
      const before = await lockDomain(tx, domain_row.id);
      if (!before) return null;
      const return_path = path === undefined ? before.return_path : path;
      const dkim_ed25519 = second ?? before.dkim_ed25519;
      const diff = changesOf(before, { ...before, return_path, dkim_ed25519 }, ['return_path', 'dkim_ed25519']);
      if (!diff) return before;
      const keys = await publicKeysOf(tx, [before.id]);
      if (diff.dkim_ed25519) await (dkim_ed25519 ? addSecondKeys(ctx, tx, before, keys) : retireSecondKeys(tx, keys));
      const seconds = new Set(keys.filter(({ algorithm }) => algorithm === 'ed25519').map(({ id }) => id));
      const signing_key_ids = before.signing_key_ids.filter((id) => dkim_ed25519 || !seconds.has(id));
      await changeDomain(tx, before.id, { return_path, dkim_ed25519, signing_key_ids });
      await recordAudit(tx, ctx, [
        { action: 'domain.updated', target_id: before.id, diff: { name: before.name, ...diff } },
      ]);
      return scheduleCheck(tx, before.id, before.status === 'suspended' ? null : 0);
    });
    if (!row) throw domainNotFound(domain);
    return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
  },
});

/** Adds a second key to each RSA key that signs or is about to; a second key that was just retired is reused. */
async function addSecondKeys(
  ctx: ActorContext,
  tx: Tx,
  domain: DomainRow,
  keys: readonly PublicKeyRow[],
): Promise<void> {
  for (const { algorithm, role, selector: first } of keys) {
    if (algorithm !== 'rsa' || role === 'retired') continue;
    const selector = secondSelector(first);
    const existing = keys.find((key) => key.selector === selector);
    if (existing) {
      await giveRole(tx, [existing.id], role);
    } else {
      const pair = await generateEd25519();
      const key = encryptDkimKey(ctx.encryption, 'ed25519', pair, ctx.clock.now(), selector, role);
      await insertKeys(tx, domain, [key]);
    }
  }
}

/** Stops the second keys from signing; their records stay while messages they signed are in transit. */
async function retireSecondKeys(tx: Tx, keys: readonly PublicKeyRow[]): Promise<void> {
  const seconds = keys.filter(({ algorithm }) => algorithm === 'ed25519');
  const idsOf = (role: PublicKeyRow['role']) => seconds.filter((key) => key.role === role).map(({ id }) => id);
  await giveRole(tx, idsOf('active'), 'retired');
  await deleteKeys(tx, idsOf('next'));
}
