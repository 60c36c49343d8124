import type { BulkEntry, BulkItem, BulkPreview } from '@postrider/core/bulk';
import { program_name } from '@postrider/core/program';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { endOf } from '../connect/follow.ts';
import { enumValue, graphql, listQuery, mutation, pageOf, query, select } from '../connect/graphql.ts';
import { actionsInBulk, item_outcomes } from '../connect/values.ts';
import { notConfirmed } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { progressOf } from '../terminal/progress.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

const PAGE = 100;

interface FilterOptions {
  readonly status?: string;
  readonly tag?: readonly string[];
  readonly to?: string;
  readonly toDomain?: string;
  readonly from?: string;
  readonly senderDomain?: string;
  /** The former name of senderDomain. */
  readonly domain?: string;
  readonly webhook?: string;
  readonly queue?: string;
  readonly priority?: string;
  readonly transport?: string;
  readonly since?: string;
  readonly until?: string;
  readonly workspace?: string;
  readonly json?: boolean;
}

/**
 * Adds the bulk commands. A bulk operation takes two steps, preview and run, so that a filter that matches too much is
 * noticed in time.
 */
export function addBulk(program: Command, terminal: Terminal): void {
  const bulk = program
    .command('bulk')
    .description('bulk operations: preview what an action would process, then run it');
  addPreview(bulk, terminal);
  addRun(bulk, terminal);
  addList(bulk, terminal);
  addGet(bulk, terminal);
  addCancel(bulk, terminal);
  addItems(bulk, terminal);
  addDownload(bulk, terminal);
}

function addPreview(bulk: Command, terminal: Terminal): void {
  bulk
    .command('preview')
    .addArgument(new Argument('<action>', 'the action to run').choices(actionsInBulk))
    .description('show what an action would process and print the token to run it')
    .option('--status <list>', 'message statuses, or delivery statuses for replay')
    .option('--tag <tag...>', 'only messages that have all of these tags')
    .option('--to <address>', 'a recipient')
    .option('--to-domain <name>', 'a recipient domain')
    .option('--priority <priority>', 'high, normal or bulk')
    .option('--transport <id>', 'only messages attempted through this transport, or "default"')
    .option('--from <address>', 'sender address')
    .option('--sender-domain <name>', 'sender domain')
    .addOption(new Option('--domain <name>', 'same as --sender-domain').hideHelp())
    .option('--webhook <id>', 'webhook ID, for replay')
    .option('--queue <name>', 'queue name, for redrive')
    .option('--since <time>', 'at or after this time (ISO 8601)')
    .option('--until <time>', 'before this time (ISO 8601)')
    .option('--workspace <id>', "workspace to use instead of the key's own")
    .option('--json', 'print JSON')
    .action(async (action: string, options: FilterOptions) => {
      const input = { action: enumValue(action), ...filterOf(action, options), workspaceId: options.workspace };
      const preview = await graphql(terminal, bulkPreview, { input });
      const result = { ...preview, object: 'bulk_preview' as const };
      show(terminal, options.json, result, () => previewWords(result));
    });
}

function addRun(bulk: Command, terminal: Terminal): void {
  bulk
    .command('run <token>')
    .description('run a previewed action by its token; using the token again shows the same bulk operation')
    .requiredOption('--reason <text>', 'reason for the audit log')
    .option('--rate <count>', 'items per second, up to 1000 (default 100)', count)
    .option('--count <count>', 'the count from the preview (default: ask for it in a terminal)', countOrNone)
    .option('-y, --yes', 'run without confirming the count')
    .option('--wait', 'wait until the operation finishes')
    .option('--json', 'print JSON')
    .action(async (token: string, options: RunOptions) => {
      const { reason, rate: ratePerSecond } = options;
      const input = { token, reason, ratePerSecond, matched: await countFor(terminal, options) };
      const operation = bulkOf((await graphql(terminal, bulkRun, { input })).bulk);
      const started = options.wait ? await finished(terminal, operation) : operation;
      show(terminal, options.json, started, () => entryWords(started));
    });
}

function addList(bulk: Command, terminal: Terminal): void {
  bulk
    .command('list')
    .description('list the newest bulk operations')
    .option('--workspace <id>', "workspace to use instead of the key's own")
    .option('--json', 'print JSON')
    .action(async (options: { workspace?: string; json?: boolean }) => {
      const page = await pageOf(terminal, bulkOperations, { first: PAGE, workspaceId: options.workspace });
      const list = { ...page, data: page.data.map(bulkOf) };
      show(terminal, options.json, list, () => table(list.data.map(rowOf)));
    });
}

function addGet(bulk: Command, terminal: Terminal): void {
  bulk
    .command('get <id>')
    .description('show a bulk operation')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const entry = await bulkWith(terminal, id);
      show(terminal, options.json, entry, () => entryWords(entry));
    });
}

function addCancel(bulk: Command, terminal: Terminal): void {
  bulk
    .command('cancel <id>')
    .description('cancel a bulk operation; processed items stay as they are')
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { reason?: string; json?: boolean }) => {
      const input = { id, reason: options.reason };
      const entry = bulkOf((await graphql(terminal, bulkCancel, { input })).bulk);
      show(terminal, options.json, entry, () => entryWords(entry));
    });
}

function addItems(bulk: Command, terminal: Terminal): void {
  bulk
    .command('items <id>')
    .description('show the outcome of each item')
    .addOption(new Option('--outcome <outcome>', 'only items with this outcome').choices(item_outcomes))
    .option('--json', 'print JSON lines')
    .action(async (id: string, { outcome, json = terminal.json }: { outcome?: string; json?: boolean }) => {
      for (let after: string | null | undefined; after !== null; ) {
        const variables = { id, after, outcome: enumValue(outcome) };
        const { items }: BulkItems = existing(id, await graphql(terminal, bulkItems, variables));
        for (const item of items.nodes) {
          const words = `${item.id}  ${item.outcome}  ${item.reason ?? ''}`.trimEnd();
          terminal.print(json ? JSON.stringify({ object: 'bulk_item', ...item }) : words);
        }
        after = items.end_cursor;
      }
    });
}

function addDownload(bulk: Command, terminal: Terminal): void {
  bulk
    .command('download <id>')
    .description('print the result of an export as JSON lines')
    .action(async (id: string) => {
      for (let after: string | null | undefined; after !== null; ) {
        const { exported }: BulkExport = existing(id, await graphql(terminal, bulkExport, { id, after }));
        for (const entry of exported.lines) terminal.print(JSON.stringify(entry));
        after = exported.endCursor;
      }
    });
}

interface BulkItems {
  readonly items: { readonly nodes: readonly Omit<BulkItem, 'object'>[]; readonly end_cursor: string | null };
}

interface BulkExport {
  readonly exported: { readonly lines: readonly unknown[]; readonly endCursor: string | null };
}

const BULK = `id workspaceId action filter status matched matchedExact done failed skipped truncated reason
  ratePerSecond cutoffAt createdAt startedAt finishedAt createdBy { kind id name }`;
const PAYLOAD = select<{ bulk: BulkEntry }>(`... on BulkPayload { bulk { ${BULK} } }`);
const bulkRun = mutation('bulkRun', 'BulkRunInput', PAYLOAD);
const bulkCancel = mutation('bulkCancel', 'BulkCancelInput', PAYLOAD);
const bulkPreview = mutation(
  'bulkPreview',
  'BulkInput',
  select<BulkPreview>(`... on BulkPreview { action token expiresAt cutoffAt matched matchedExact sample
    skipped { reason count exact } warning }`),
);
const bulkOperations = listQuery('bulkOperations', { workspaceId: 'ID' }, select<BulkEntry>(BULK));

function part<T>(text: string) {
  return select<T | null>(`... on BulkOperation { id ${text} }`);
}

const bulkOperation = query('node', { id: 'ID!' }, part<BulkEntry>(BULK));
const bulkItems = query(
  'node',
  { id: 'ID!' },
  part<BulkItems>(
    `items(first: ${PAGE}, after: $after, outcome: $outcome) { nodes { id outcome reason at } endCursor }`,
  ),
  { after: 'String', outcome: 'BulkOutcome' },
);
const bulkExport = query(
  'node',
  { id: 'ID!' },
  // An export is free-form JSON, whose names are left unchanged.
  part<BulkExport>(`exported(first: ${PAGE}, after: $after) { lines endCursor }`),
  { after: 'String' },
);

interface RunOptions {
  readonly reason: string;
  readonly rate?: number;
  readonly count?: number;
  readonly yes?: boolean;
  readonly wait?: boolean;
  readonly json?: boolean;
}

function bulkOf(bulk: BulkEntry): BulkEntry {
  return { ...bulk, object: 'bulk_operation' };
}

/** Returns the count that was typed; undefined if none is required. */
async function countFor(terminal: Terminal, { count: count_option, yes }: RunOptions): Promise<number | undefined> {
  if (count_option !== undefined || yes) return count_option;
  if (terminal.question) {
    const typed = (await terminal.question('Type the count from the preview: ')).trim();
    if (!/^\d+$/.test(typed)) throw notConfirmed();
    return Number(typed);
  }
  throw new Problem({
    reason: 'missing_option',
    message: 'Bulk operations cannot be undone and must be confirmed. Nothing was started.',
    advice: 'Add --count with the count from the preview, or --yes.',
  });
}

/** Waits until the operation has finished, with a progress bar on the terminal. */
async function finished(terminal: Terminal, operation: BulkEntry): Promise<BulkEntry> {
  const progress = progressOf(terminal, operation.action);
  const entry = await endOf(operation, {
    isOpen: ({ status }) => status === 'queued' || status === 'running',
    show: ({ done, failed, skipped, matched }) => progress.show(done + failed + skipped, matched),
    read: () => bulkWith(terminal, operation.id),
  });
  progress.end();
  return entry;
}

async function bulkWith(terminal: Terminal, id: string): Promise<BulkEntry> {
  return bulkOf(existing(id, await graphql(terminal, bulkOperation, { id })));
}

/** Returns the bulk operation; throws if it does not exist. */
function existing<T extends object>(id: string, bulk: T | null): T {
  if (bulk !== null && 'id' in bulk) return bulk;
  throw new Problem({
    reason: 'bulk_not_found',
    message: `No bulk operation with ID ${id}.`,
    advice: `Run \`${program_name} bulk list\` to list the newest ones.`,
  });
}

/** Returns the filter input that the action takes. */
function filterOf(action: string, { webhook: webhookId, ...options }: FilterOptions) {
  const { queue, tag: tags, to, toDomain, senderDomain, from, transport, since, until } = options;
  const status = options.status?.split(',').map(enumValue);
  if (action === 'redrive') return { jobs: { queue, since, until } };
  if (action === 'replay') return { deliveries: { webhookId, status, since, until } };
  const priority = enumValue(options.priority);
  const domain = senderDomain ?? options.domain;
  return { messages: { status, tags, to, toDomain, domain, from, priority, transport, since, until } };
}

function previewWords(preview: BulkPreview): string {
  const description = preview.matched_exact ? '' : 'more than ';
  const skipped = preview.skipped.map(
    ({ reason, count: many, exact }) => `${exact ? '' : 'more than '}${many} would be skipped: ${reason}`,
  );
  if (preview.matched === 0) {
    const advice = 'change the filter, then preview again';
    return [`No matches for ${preview.action}: ${advice}`, ...skipped].join('\n');
  }
  return [
    `${preview.action} would process ${description}${preview.matched} ${preview.matched === 1 ? 'item' : 'items'}`,
    ...preview.sample.map((id) => `  ${id}`),
    ...skipped,
    ...(preview.warning === null ? [] : [preview.warning]),
    `To run it before ${preview.expires_at}: ${program_name} bulk run ${preview.token} --count ${preview.matched} --reason '…'`,
  ].join('\n');
}

function rowOf(entry: BulkEntry): string[] {
  const { id, action, status, done, failed, skipped, created_at, reason } = entry;
  return [id, created_at, action, status, `${done} done`, `${failed} failed`, `${skipped} skipped`, plain(reason)];
}

function entryWords(entry: BulkEntry): string {
  return table([rowOf(entry)]);
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return Number(text);
}

function countOrNone(text: string): number {
  return text === '0' ? 0 : count(text);
}
