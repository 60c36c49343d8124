import { z } from 'zod';
import { timestampField } from '../fields/timestamp-field.ts';
import { listOf } from '../fields/wire.ts';
import { accessibleSide } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { collectedPage, collectPage, idRange } from '../paging/candidate-pages.ts';
import { type List, pageFields, readCursor } from '../paging/list.ts';
import { type AuditAction, type AuditKind, auditActions, auditKinds, readActions } from './actions.ts';
import { type AuditEntry, auditEntry, auditEntrySchema } from './audit-entry.ts';
import { chainField } from './chain.ts';
import { type AuditDriver, type AuditFilter, readAuditPage } from './store.ts';

const actionField = z
  .string()
  .meta({ description: 'One action or a comma-separated list.', examples: ['api_key.revoked'] })
  .transform((text, context) => {
    const parts = text.split(',').map((part) => part.trim());
    const known = parts.filter((part): part is AuditAction => auditActions.some((one) => one === part));
    if (known.length === parts.length) return [...new Set(known)].sort();
    context.addIssue(
      issueFor('invalid_type', `action must be one or a comma-separated list of ${auditActions.join(', ')}.`),
    );
    return z.NEVER;
  });

export const listAudit = operation({
  name: 'audit.list',
  scope: null,
  replica: true,
  summary: 'List the audit log of the workspace or the instance, newest first',
  input: z.object({
    ...pageFields,
    chain: chainField,
    action: actionField.optional(),
    kind: z
      .enum(auditKinds)
      .optional()
      .meta({ description: 'reads: who read something, such as email content. changes: everything else.' }),
    target_id: z.string().min(1).max(320).optional(),
    actor_id: z.string().min(1).max(64).optional(),
    since: timestampField('since').optional(),
    until: timestampField('until').optional(),
  }),
  output: listOf(auditEntrySchema),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<AuditEntry>> {
    const workspace_id = accessibleSide(ctx, filters.chain);
    const scope = { secret_key: ctx.secret_key, list: 'audit', workspace_id, filters };
    const range = idRange('audit', filters, readCursor(scope, cursor));
    const filter: AuditFilter = {
      target_id: filters.target_id ?? null,
      actor_id: filters.actor_id ?? null,
      ...actionFilter(filters.action, filters.kind),
    };
    // Without this, a page would examine entries that cannot match.
    if (filter.actions?.length === 0) return collectedPage(scope, { rows: [], edge: null }, limit, auditEntry);
    const driver = driverOf(filter);
    const filter_count = Object.values(filter).filter((value) => value !== null).length;
    const page = await collectPage(
      range,
      limit + 1,
      filter_count === (driver === null ? 0 : 1),
      (part, count, max_rows) => readAuditPage(ctx.sql, workspace_id, driver, filter, part, count, max_rows),
    );
    return collectedPage(scope, page, limit, auditEntry);
  },
});

/** Excludes reads instead of listing the changes, so that entries with retired actions remain changes. */
function actionFilter(
  actions: readonly AuditAction[] | undefined,
  kind: AuditKind | undefined,
): Pick<AuditFilter, 'actions' | 'excluded_actions'> {
  if (kind === 'reads') {
    return { actions: readActions.filter((one) => actions?.includes(one) ?? true), excluded_actions: null };
  }
  if (kind === undefined) return { actions: actions ?? null, excluded_actions: null };
  if (actions === undefined) return { actions: null, excluded_actions: readActions };
  return { actions: actions.filter((one) => !readActions.includes(one)), excluded_actions: null };
}

/** Picks the filter that is likely to match the fewest rows. */
function driverOf({ target_id, actor_id, actions }: AuditFilter): AuditDriver {
  if (target_id !== null) return 'target_id';
  if (actions?.length === 1) return 'action';
  return actor_id === null ? null : 'actor_id';
}
