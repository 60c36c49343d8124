import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { collectedPage, collectPage, idRange } from '../paging/candidate-pages.ts';
import { type List, pageFields, pageReasons, readCursor } from '../paging/list.ts';
import { addressField } from './address-field.ts';
import { type SuppressionSource, suppressionSources } from './source.ts';
import { readSuppressionPage } from './store.ts';
import { type SuppressionEntry, suppressionEntry, suppressionSchema } from './suppression-entry.ts';

const known = suppressionSources.join(', ');

const sourceField = z
  .string()
  .meta({ description: `One or more of these, comma-separated: ${known}.`, examples: ['bounce'] })
  .transform((text, context) => {
    const parts = text.split(',').map((part) => part.trim());
    const sources = parts.filter((part): part is SuppressionSource => suppressionSources.some((one) => one === part));
    if (sources.length === parts.length) return [...new Set(sources)].sort();
    context.addIssue(issueFor('invalid_type', `source must be one or a comma list of ${known}.`));
    return z.NEVER;
  });

/** Lists suppressed addresses, newest first, without expired ones. */
export const listSuppressions = operation({
  name: 'suppressions.list',
  scope: 'email:logs:read',
  summary: 'List suppressed addresses, newest first',
  reasons: [...pageReasons, 'invalid_email', 'invalid_timestamp'],
  input: z.object({
    ...pageFields,
    source: sourceField.optional(),
    email: addressField.optional().meta({ description: 'Email address, case-insensitive.' }),
  }),
  output: listOf(suppressionSchema),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<SuppressionEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'suppressions', workspace_id, filters };
    const range = idRange('suppression', {}, readCursor(scope, cursor));
    const filter = { sources: filters.source ?? null, email: filters.email ?? null };
    const page = await collectPage(range, limit + 1, false, (part, count, max_rows) =>
      readSuppressionPage(ctx.sql, workspace_id, filter, part, count, max_rows),
    );
    return collectedPage(scope, page, limit, suppressionEntry);
  },
});
