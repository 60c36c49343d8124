import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { type DomainEntry, domainEntry, domainSchema } from './domain-entry.ts';
import { domainParameter, findDomain } from './find-domain.ts';
import { publicKeysOf } from './store.ts';

export const getDomain = operation({
  name: 'domains.get',
  scope: 'domains:read',
  sandbox: true,
  summary: 'Get a domain with the records to publish',
  reasons: ['domain_not_found'],
  input: z.object({ domain: domainParameter }),
  output: domainSchema,
  async run(ctx, { domain }): Promise<DomainEntry> {
    const row = await findDomain(ctx, domain);
    return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
  },
});
