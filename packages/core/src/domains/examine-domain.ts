import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { refuseFields } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { ownHosts, recordEntry, recordSchema, siteOf } from './domain-entry.ts';
import { nameProblem } from './domain-name.ts';
import { domainParameter } from './find-domain.ts';
import { CHECK_AT_ONCE_MS, checkRecords } from './records/check-records.ts';
import { setupSteps, zoneFile } from './records/setup-text.ts';
import { domainStates } from './state.ts';
import { domainByName, publicKeysOf } from './store.ts';

export const examinationSchema = z
  .object({
    object: objectName('domain_examination'),
    name: z.string().meta({ description: 'In lowercase ASCII (Punycode).', examples: ['example.com'] }),
    added: z.boolean().meta({ description: 'Whether the workspace has this domain; if not, it has no keys.' }),
    status: z.enum(domainStates).nullable().meta({ description: 'Status in the workspace. null: not added.' }),
    healthy: z
      .boolean()
      .meta({ description: 'Whether there are no problems. Recommended records may still be missing.' }),
    dns_records: z
      .array(recordSchema)
      .readonly()
      .meta({ description: 'The expected records, with the results of this check.' }),
    zone_file: z.string().meta({ description: 'The records as a zone file fragment.' }),
    steps: z.array(z.string()).readonly().meta({ description: 'Setup steps for any DNS provider, as text.' }),
  })
  .meta({ id: 'DomainExamination' });
export type Examination = z.output<typeof examinationSchema>;

/** Looks up the records and gives advice without changing anything. The domain need not have been added. */
export const examineDomain = operation({
  name: 'domains.examine',
  scope: 'domains:read',
  sandbox: true,
  summary: 'Check the DNS of any domain and list the setup steps',
  reasons: ['invalid_domain', 'domain_not_allowed'],
  input: z.object({ domain: domainParameter }),
  output: examinationSchema,
  async run(ctx, { domain }): Promise<Examination> {
    const name = canonicalDomain(domain);
    if (name === null) {
      const message = `${domain.slice(0, 80)} is not a domain such as example.com.`;
      throw refuseFields([{ param: 'domain', reason: 'invalid_domain', message }]);
    }
    const row = await domainByName(ctx.sql, ctx.actor.workspace_id, name);
    const problem = row ? null : nameProblem(name, ownHosts(ctx.config, ctx.public_url));
    if (problem) throw problem;
    const keys = row ? await publicKeysOf(ctx.sql, [row.id]) : [];
    const subject = row ?? { name, ownership_token: null, return_path: null };
    const site = await siteOf(ctx, ctx.actor.workspace_id, name);
    const checked = row?.sandbox ? [] : await checkRecords(ctx.dns, subject, keys, site, CHECK_AT_ONCE_MS);
    const now = new Date(ctx.clock.now());
    const dns_records = checked.map(({ expected, finding }) => recordEntry(expected, finding, keys, now));
    return {
      object: 'domain_examination',
      name,
      added: row !== null,
      status: row?.status ?? null,
      healthy: dns_records.every(({ status, required }) => status === 'ok' || (status === 'missing' && !required)),
      dns_records,
      zone_file: zoneFile(name, dns_records),
      steps: setupSteps(name, dns_records),
    };
  },
});
