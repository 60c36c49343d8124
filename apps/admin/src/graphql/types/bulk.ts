import {
  type BulkEntry,
  type BulkItem as BulkItemEntry,
  type BulkPreview,
  bulkActions,
  bulkOutcomes,
  bulkStatuses,
  cancelBulk,
  followBulk,
  listBulk,
  listBulkItems,
  previewBulk,
  readExport,
  runBulk,
} from '@postrider/core/bulk';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { snakeCase } from '../kit/names.ts';
import { claimIds } from '../kit/node-ids.ts';
import { pageInput, pageSize } from '../kit/page-size.ts';
import { Actor } from './audit.ts';
import { MessageFilter } from './messages.ts';
import { DeliveryStatus } from './webhooks.ts';

const BulkAction = enumOf(
  'BulkAction',
  bulkActions,
  'REPLAY acts on webhook deliveries, REDRIVE on dead jobs, and the others on messages.',
);
const BulkStatus = enumOf('BulkStatus', bulkStatuses);

const BulkItemError = builder.objectRef<{ readonly id: string; readonly reason: string }>('BulkItemError').implement({
  fields: (t) => ({ id: t.exposeID('id'), reason: t.exposeString('reason') }),
});

const BulkOutcome = enumOf('BulkOutcome', bulkOutcomes);

const BulkItem = builder.objectRef<BulkItemEntry>('BulkItem').implement({
  description: 'The result of one item.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The target of the action.' }),
    outcome: t.field({ type: BulkOutcome, resolve: ({ outcome }) => outcome }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was skipped or failed.' }),
    at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
  }),
});

interface ItemPage {
  readonly data: readonly BulkItemEntry[];
  readonly next_cursor: string | null;
}

// Not a connection: an item has a position among the processed items but no cursor of its own.
const BulkItemPage = builder.objectRef<ItemPage>('BulkItemPage').implement({
  fields: (t) => ({
    nodes: t.field({ type: [BulkItem], resolve: ({ data }) => data }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the next page; null: last page.',
      resolve: ({ next_cursor }) => next_cursor,
    }),
  }),
});

interface ExportPage {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

const BulkExportPage = builder.objectRef<ExportPage>('BulkExportPage').implement({
  fields: (t) => ({
    lines: t.field({
      type: ['JSON'],
      description: 'Log entries with REST field names, as of the export.',
      resolve: ({ data }) => [...data],
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the next page; null: last page.',
      resolve: ({ next_cursor }) => next_cursor,
    }),
  }),
});

const BulkOperation = builder.objectRef<BulkEntry>('BulkOperation');
claimIds('bulk', 'BulkOperation');
builder.node(BulkOperation, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.bulks.loadMany(ids),
  fields: (t) => ({
    workspaceId: t.id({
      nullable: true,
      description: 'null: an instance operation.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    action: t.field({ type: BulkAction, resolve: ({ action }) => action }),
    filter: t.field({
      type: 'JSON',
      description: 'The filter, with REST field names.',
      resolve: ({ filter }) => filter,
    }),
    status: t.field({ type: BulkStatus, resolve: ({ status }) => status }),
    matched: t.exposeInt('matched', { description: 'Number of items that the preview matched.' }),
    matchedExact: t.boolean({ resolve: ({ matched_exact }) => matched_exact }),
    done: t.exposeInt('done'),
    failed: t.exposeInt('failed'),
    skipped: t.exposeInt('skipped'),
    truncated: t.exposeBoolean('truncated', {
      description: 'Whether it stopped at its limit even though more items matched.',
    }),
    reason: t.exposeString('reason'),
    ratePerSecond: t.int({ resolve: ({ rate_per_second }) => rate_per_second }),
    createdBy: t.field({ type: Actor, resolve: ({ created_by }) => created_by }),
    cutoffAt: t.field({
      type: 'DateTime',
      description: 'Only items created before this time are processed.',
      resolve: ({ cutoff_at }) => cutoff_at,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    startedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ started_at }) => started_at }),
    finishedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ finished_at }) => finished_at }),
    errors: t.field({
      type: [BulkItemError],
      description: 'The first ten failed items.',
      resolve: ({ id }, _, { load }) => load.bulkFailures.load(id),
    }),
    items: t.field({
      type: BulkItemPage,
      description: 'The result of each item, in processing order.',
      args: { ...pageArgs(t), outcome: t.arg({ type: BulkOutcome }) },
      complexity: (args) => ({ field: 1 + pageSize(args), multiplier: 1 }),
      resolve: ({ id }, { outcome: outcome_filter, ...args }, g) =>
        call(g, listBulkItems, { id, outcome: outcome_filter, ...pageInput(args) }),
    }),
    exported: t.field({
      type: BulkExportPage,
      description: 'The result of an export, available for a week.',
      args: pageArgs(t),
      complexity: (args) => ({ field: 1 + pageSize(args), multiplier: 1 }),
      resolve: ({ id }, args, g) => call(g, readExport, { id, ...pageInput(args) }),
    }),
  }),
});

const BulkConnection = connectionOf(BulkOperation);

builder.queryField('bulkOperations', (t) =>
  t.field({
    type: BulkConnection,
    description:
      'Newest first. Operators also see instance operations, and those in any workspace given as workspaceId.',
    args: { ...pageArgs(t), workspaceId: t.arg.id() },
    resolve: (_, { workspaceId, ...args }, g) => page(g, listBulk, args, { workspaceId }),
  }),
);

builder.subscriptionField('bulkOperation', (t) =>
  t.field({
    type: BulkOperation,
    description: 'The bulk operation now and after each change, until it ends.',
    args: { id: t.arg.id({ required: true }) },
    subscribe: (_, { id }, g) => g.follow(g, () => call(g, followBulk, { id })),
    resolve: (bulk) => bulk,
  }),
);

const BulkDeliveryFilter = builder.inputType('BulkDeliveryFilter', {
  fields: (t) => ({
    webhookId: t.id({ required: true }),
    status: t.field({ type: [DeliveryStatus], description: 'Default: FAILED.' }),
    since: t.field({ type: 'DateTime', description: 'Events at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Events before this time.' }),
  }),
});

const BulkJobFilter = builder.inputType('BulkJobFilter', {
  fields: (t) => ({
    queue: t.string({ required: true }),
    since: t.field({ type: 'DateTime', description: 'Died at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Died before this time.' }),
  }),
});

const BulkInput = builder.inputType('BulkInput', {
  description: 'Set only the filter for the action.',
  fields: (t) => ({
    action: t.field({ type: BulkAction, required: true }),
    messages: t.field({
      type: MessageFilter,
      description: 'For all actions except REPLAY and REDRIVE. An empty filter matches all email.',
    }),
    deliveries: t.field({ type: BulkDeliveryFilter, description: 'For REPLAY.' }),
    jobs: t.field({ type: BulkJobFilter, description: 'For REDRIVE. Requires operator.' }),
    workspaceId: t.id({ description: 'Another workspace (operators only).' }),
  }),
});

const SkipCount = builder.objectRef<BulkPreview['skipped'][number]>('SkipCount').implement({
  fields: (t) => ({
    reason: t.exposeString('reason'),
    count: t.exposeInt('count'),
    exact: t.exposeBoolean('exact'),
  }),
});

const BulkPreviewPayload = builder.objectRef<BulkPreview>('BulkPreview').implement({
  description: 'The items that an action would process. Nothing changes yet.',
  fields: (t) => ({
    action: t.field({ type: BulkAction, resolve: ({ action }) => action }),
    token: t.exposeString('token', {
      description: 'Runs exactly this action once. Only valid for the caller that requested the preview.',
    }),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ expires_at }) => expires_at }),
    cutoffAt: t.field({
      type: 'DateTime',
      description: 'Only items created before this time will be processed.',
      resolve: ({ cutoff_at }) => cutoff_at,
    }),
    matched: t.exposeInt('matched'),
    matchedExact: t.boolean({
      description: 'false: counting stopped at its limit.',
      resolve: ({ matched_exact }) => matched_exact,
    }),
    sample: t.idList({
      description: 'The first ten IDs. Read the items with nodes.',
      resolve: ({ sample }) => [...sample],
    }),
    skipped: t.field({
      type: [SkipCount],
      description: 'Items that match the filter but will be skipped.',
      resolve: ({ skipped }) => skipped,
    }),
    warning: t.exposeString('warning', { nullable: true }),
  }),
});
const BulkPreviewResult = resultOf('BulkPreviewResult', BulkPreviewPayload);

const BulkPayload = builder.objectRef<{ readonly bulk: BulkEntry }>('BulkPayload').implement({
  fields: (t) => ({ bulk: t.field({ type: BulkOperation, resolve: ({ bulk }) => bulk }) }),
});
const BulkResult = resultOf('BulkResult', BulkPayload);

const BulkRunInput = builder.inputType('BulkRunInput', {
  fields: (t) => ({
    token: t.string({ required: true }),
    reason: t.string({ required: true, description: 'Reason for the audit log.' }),
    ratePerSecond: t.int({ description: 'From 1 to 1000; 100 by default.' }),
    matched: t.int({ description: 'The count from the preview. The request is rejected if it differs.' }),
  }),
});

const BulkCancelInput = builder.inputType('BulkCancelInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
});

builder.mutationFields((t) => ({
  bulkPreview: t.field({
    type: BulkPreviewResult,
    description: 'Returns what an action would process, with a token that is valid for 15 minutes.',
    args: { input: t.arg({ type: BulkInput, required: true }) },
    resolve: (_, { input: { action, workspaceId, messages, deliveries, jobs } }, g) =>
      outcome(() => call(g, previewBulk, { action, workspaceId, filter: oneFilter([messages, deliveries, jobs]) })),
  }),
  bulkRun: t.field({
    type: BulkResult,
    description: 'Runs a previewed action. Using the token again returns the same bulk operation.',
    args: { input: t.arg({ type: BulkRunInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ bulk: await call(g, runBulk, input) })),
  }),
  bulkCancel: t.field({
    type: BulkResult,
    description: 'Cancels a bulk operation. No further items are processed. Processed items do not change.',
    args: { input: t.arg({ type: BulkCancelInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ bulk: await call(g, cancelBulk, input) })),
  }),
}));

/**
 * Combines all given filters into one core filter. Core rejects fields that do not belong to the action. Null is passed
 * on for core to reject, because dropping null would widen the set that the action processes.
 */
function oneFilter(fields: readonly (object | null | undefined)[]): Record<string, unknown> | undefined {
  const filters = fields.filter((filter) => filter != null);
  if (filters.length === 0) return undefined;
  return Object.fromEntries(
    filters.flatMap((filter) =>
      Object.entries(filter).map(([name, value]) => {
        if (name === 'status' && Array.isArray(value)) return ['status', value.join(',')];
        return [name === 'tags' ? 'tag' : snakeCase(name), value];
      }),
    ),
  );
}
