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
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
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
const BulkStatus = enumOf(
  'BulkStatus',
  bulkStatuses,
  'COMPLETED: every item was processed or skipped, or the limit was reached.',
);

const BulkItemError = builder.objectRef<{ readonly id: string; readonly reason: string }>('BulkItemError').implement({
  description: 'A failed item of a bulk operation.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The target of the action.' }),
    reason: t.exposeString('reason', { description: 'Why it failed.' }),
  }),
});

const BulkOutcome = enumOf('BulkOutcome', bulkOutcomes, 'The result of an action on one item.');

const BulkItem = builder.objectRef<BulkItemEntry>('BulkItem').implement({
  description: 'The result of one item.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The target of the action.' }),
    outcome: t.field({
      type: BulkOutcome,
      description: 'Whether the action was done, failed, or did not apply.',
      resolve: ({ outcome }) => outcome,
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was skipped or failed.' }),
    at: t.field({ type: 'DateTime', description: 'When the item was processed.', resolve: ({ at }) => at }),
  }),
});

interface ItemPage {
  readonly data: readonly BulkItemEntry[];
  readonly next_cursor: string | null;
}

// Not a connection: an item has a position among the processed items but no cursor of its own.
const BulkItemPage = builder.objectRef<ItemPage>('BulkItemPage').implement({
  description: 'A page of processed items.',
  fields: (t) => ({
    nodes: t.field({ type: [BulkItem], description: 'The items of the page.', resolve: ({ data }) => data }),
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
  description: 'A page of exported log entries.',
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
  description: 'An action on all items that match a filter.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.bulks.loadMany(ids),
  fields: (t) => ({
    workspaceId: t.id({
      nullable: true,
      description: 'null: an instance operation.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    action: t.field({ type: BulkAction, description: 'The action on each item.', resolve: ({ action }) => action }),
    filter: t.field({
      type: 'JSON',
      description: 'The filter, with REST field names.',
      resolve: ({ filter }) => filter,
    }),
    status: t.field({
      type: BulkStatus,
      description: 'Whether it is queued, running or over.',
      resolve: ({ status }) => status,
    }),
    matched: t.exposeInt('matched', { description: 'Number of items that the preview matched.' }),
    matchedExact: t.boolean({
      description: 'Whether the preview counted to the end.',
      resolve: ({ matched_exact }) => matched_exact,
    }),
    done: t.exposeInt('done', { description: 'Number of items processed successfully so far.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed items so far.' }),
    skipped: t.exposeInt('skipped', { description: 'Number of items so far that the action did not apply to.' }),
    truncated: t.exposeBoolean('truncated', {
      description: 'Whether it stopped at its limit even though more items matched.',
    }),
    reason: t.exposeString('reason', { description: 'Reason for the audit log.' }),
    ratePerSecond: t.int({
      description: 'The maximum rate, in items per second.',
      resolve: ({ rate_per_second }) => rate_per_second,
    }),
    createdBy: t.field({
      type: Actor,
      description: 'The user or key that started it.',
      resolve: ({ created_by }) => created_by,
    }),
    cutoffAt: t.field({
      type: 'DateTime',
      description: 'Only items created before this time are processed.',
      resolve: ({ cutoff_at }) => cutoff_at,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was requested.',
      resolve: ({ created_at }) => created_at,
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a worker started it; null while queued.',
      resolve: ({ started_at }) => started_at,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it completed or was canceled; null before.',
      resolve: ({ finished_at }) => finished_at,
    }),
    errors: t.field({
      type: [BulkItemError],
      description: 'The first ten failed items.',
      resolve: ({ id }, _, { load }) => load.bulkFailures.load(id),
    }),
    items: t.field({
      type: BulkItemPage,
      description: 'The result of each item, in processing order.',
      args: {
        ...pageArgs(t),
        outcome: t.arg({ type: BulkOutcome, description: 'Only items with this result. Default: all.' }),
      },
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
    args: { ...pageArgs(t), workspaceId: t.arg.id({ description: 'Another workspace (operators only).' }) },
    resolve: (_, { workspaceId, ...args }, g) => page(g, listBulk, args, { workspaceId }),
  }),
);

builder.subscriptionField('bulkOperation', (t) =>
  t.field({
    type: BulkOperation,
    description: 'The bulk operation now and after each change, until it ends.',
    args: { id: t.arg.id({ required: true, description: 'The ID of the bulk operation.' }) },
    subscribe: (_, { id }, g) => g.follow(g, () => call(g, followBulk, { id })),
    resolve: (bulk) => bulk,
  }),
);

const BulkDeliveryFilter = builder.inputType('BulkDeliveryFilter', {
  description: 'Webhook deliveries, combined with AND.',
  fields: (t) => ({
    webhookId: t.id({ required: true, description: 'The webhook of the deliveries.' }),
    status: t.field({ type: [DeliveryStatus], description: 'Default: FAILED.' }),
    since: t.field({ type: 'DateTime', description: 'Events at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Events before this time.' }),
  }),
});

const BulkJobFilter = builder.inputType('BulkJobFilter', {
  description: 'Dead jobs, combined with AND.',
  fields: (t) => ({
    queue: t.string({ required: true, description: 'The name of a queue, such as delivery.attempt.' }),
    since: t.field({ type: 'DateTime', description: 'Died at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Died before this time.' }),
  }),
});

const BulkInput = builder.inputType('BulkInput', {
  description: 'Set only the filter for the action.',
  fields: (t) => ({
    action: t.field({ type: BulkAction, required: true, description: 'The action on each item.' }),
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
  description: 'The number of items skipped for one reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'Why they are skipped.' }),
    count: t.exposeInt('count', { description: 'Number of items.' }),
    exact: t.exposeBoolean('exact', { description: 'false: counting stopped at its limit.' }),
  }),
});

const BulkPreviewPayload = builder.objectRef<BulkPreview>('BulkPreview').implement({
  description: 'The items that an action would process. Nothing changes yet.',
  fields: (t) => ({
    action: t.field({ type: BulkAction, description: 'The action on each item.', resolve: ({ action }) => action }),
    token: t.exposeString('token', {
      description: 'Runs exactly this action once. Only valid for the caller that requested the preview.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the token expires.',
      resolve: ({ expires_at }) => expires_at,
    }),
    cutoffAt: t.field({
      type: 'DateTime',
      description: 'Only items created before this time will be processed.',
      resolve: ({ cutoff_at }) => cutoff_at,
    }),
    matched: t.exposeInt('matched', { description: 'Number of items that would be processed.' }),
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
    warning: t.exposeString('warning', {
      nullable: true,
      description: 'Consequences of the action, such as that canceled email is never sent; null: none.',
    }),
  }),
});
const BulkPreviewResult = resultOf('BulkPreviewResult', BulkPreviewPayload);

const BulkPayload = builder.objectRef<{ readonly bulk: BulkEntry }>('BulkPayload').implement({
  description: 'The changed bulk operation.',
  fields: (t) => ({
    bulk: t.field({
      type: BulkOperation,
      description: 'The bulk operation after the change.',
      resolve: ({ bulk }) => bulk,
    }),
  }),
});
const BulkResult = resultOf('BulkResult', BulkPayload);

const BulkRunInput = builder.inputType('BulkRunInput', {
  description: 'The previewed action to run.',
  fields: (t) => ({
    token: t.string({ required: true, description: 'The token from the preview.' }),
    reason: t.string({ required: true, description: 'Reason for the audit log.' }),
    ratePerSecond: t.int({ description: 'From 1 to 1000; 100 by default.' }),
    matched: t.int({ description: 'The count from the preview. The request is rejected if it differs.' }),
  }),
});

const BulkCancelInput = builder.inputType('BulkCancelInput', {
  description: 'The bulk operation to cancel.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The ID of the bulk operation.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationFields((t) => ({
  bulkPreview: t.field({
    type: BulkPreviewResult,
    description: 'Returns what an action would process, with a token that is valid for 15 minutes.',
    args: { input: inputArg(t, BulkInput) },
    resolve: (_, { input: { action, workspaceId, messages, deliveries, jobs } }, g) =>
      outcome(() => call(g, previewBulk, { action, workspaceId, filter: oneFilter([messages, deliveries, jobs]) })),
  }),
  bulkRun: t.field({
    type: BulkResult,
    description: 'Runs a previewed action. Using the token again returns the same bulk operation.',
    args: { input: inputArg(t, BulkRunInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ bulk: await call(g, runBulk, input) })),
  }),
  bulkCancel: t.field({
    type: BulkResult,
    description: 'Cancels a bulk operation. No further items are processed. Processed items do not change.',
    args: { input: inputArg(t, BulkCancelInput) },
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
