import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { operation } from '../operation/operation.ts';
import { domainClaimed } from './add-domain.ts';
import { applyCheck } from './apply-check.ts';
import { type DomainEntry, domainEntry, domainNotFound, domainSchema, siteOf } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { CHECK_AT_ONCE_MS, checkRecords } from './records/check-records.ts';
import { publicKeysOf } from './store.ts';

/** Looks up the records now, and verifies the domain if they are right and no other workspace has verified the name. */
export const verifyDomain = operation({
  name: 'domains.verify',
  scope: 'domains:write',
  summary: 'Check the DNS records of a domain now',
  reasons: ['domain_not_found', 'domain_claimed'],
  input: z.object({ domain: domainParameter }),
  output: domainSchema,
  async run(ctx, { domain }): Promise<DomainEntry> {
    const row = await findDomain(ctx, domain);
    const keys = await publicKeysOf(ctx.sql, [row.id]);
    if (row.sandbox) return domainEntry(row, keys, ctx);
    const site = await siteOf(ctx, row.workspace_id, row.name);
    const checked = await checkRecords(ctx.dns, row, keys, site, CHECK_AT_ONCE_MS);
    const applied = await applyCheck(ctx, {
      domain: row,
      checked,
      yields: false,
      record: (tx, before, after) => {
        const diff = { name: row.name, status: [before.status, after.status] };
        return recordAudit(tx, ctx, [{ action: 'domain.checked', target_id: row.id, diff }]);
      },
    });
    if (applied.kind === 'gone') throw domainNotFound(row.name);
    if (applied.kind === 'claimed') throw domainClaimed(row.name);
    return domainEntry(applied.row, await publicKeysOf(ctx.sql, [row.id]), ctx);
  },
});
