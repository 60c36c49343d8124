import { type Context, invoke } from '@postrider/core';
import {
  type BulkEntry,
  type BulkPreview,
  bulkActions,
  bulkOutcomes,
  cancelBulk,
  DEFAULT_RATE,
  getBulk,
  listBulk,
  listBulkItems,
  MOST_RATE,
  previewBulk,
  readExport,
  runBulk,
} from '@postrider/core/bulk';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { withMachine } from '../connect/machine.ts';
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
  readonly since?: string;
  readonly until?: string;
  readonly workspace?: string;
  readonly json?: boolean;
}

/** Two steps, so that a filter that matches too much is noticed in time: preview, then run what it showed. */
export function addBulk(program: Command, terminal: Terminal): void {
  const bulk = program
    .command('bulk')
    .description('bulk operations, on the machine itself: preview what a filter matches, then run it');
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
    .addArgument(new Argument('<action>', 'the action to run').choices(bulkActions))
    .description('show what an action would process, and print the token that runs it')
    .option('--status <list>', 'statuses of messages, or of deliveries for replay')
    .option('--tag <tag...>', 'tags that a message must all carry')
    .option('--to <address>', 'a recipient')
    .option('--to-domain <name>', 'the domain of one of its recipients')
    .option('--priority <priority>', 'high, normal or bulk')
    .option('--from <address>', 'the sender')
    .option('--sender-domain <name>', 'the domain of from')
    .addOption(new Option('--domain <name>', 'the same as --sender-domain').hideHelp())
    .option('--webhook <id>', 'for replay: the endpoint')
    .option('--queue <name>', 'for redrive: the queue')
    .option('--since <time>', 'from this time on, as ISO 8601')
    .option('--until <time>', 'before this time, as ISO 8601')
    .option('--workspace <id>', 'another workspace than the oldest')
    .option('--json', 'print JSON')
    .action(async (action: string, options: FilterOptions) => {
      const input = { action, filter: filterOf(options), workspace_id: options.workspace };
      const seen = await onMachine(terminal, (ctx) => invoke(ctx, previewBulk, input));
      show(terminal, options.json, seen, () => previewWords(seen));
    });
}

function addRun(bulk: Command, terminal: Terminal): void {
  bulk
    .command('run <token>')
    .description('run a preview by its token; the same token again shows the same bulk operation')
    .requiredOption('--reason <text>', 'why; recorded in the audit log')
    .option('--rate <count>', `items per second, up to ${MOST_RATE}`, count, DEFAULT_RATE)
    .option('--json', 'print JSON')
    .action(async (token: string, options: { reason: string; rate: number; json?: boolean }) => {
      const { reason, rate: rate_per_second } = options;
      const started = await onMachine(terminal, async (ctx) => {
        // runBulk sends its job in the same transaction, which needs the queue.
        await ctx.jobs.start();
        try {
          return await invoke(ctx, runBulk, { token, reason, rate_per_second });
        } finally {
          await ctx.jobs.stop();
        }
      });
      show(terminal, options.json, started, () => entryWords(started));
    });
}

function addList(bulk: Command, terminal: Terminal): void {
  bulk
    .command('list')
    .description('the newest bulk operations')
    .option('--workspace <id>', 'another workspace than the oldest')
    .option('--json', 'print JSON')
    .action(async (options: { workspace?: string; json?: boolean }) => {
      const input = { limit: PAGE, workspace_id: options.workspace };
      const found = await onMachine(terminal, (ctx) => invoke(ctx, listBulk, input));
      show(terminal, options.json, found, () => table(found.data.map(rowOf)));
    });
}

function addGet(bulk: Command, terminal: Terminal): void {
  bulk
    .command('get <id>')
    .description('one bulk operation')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const entry = await onMachine(terminal, (ctx) => invoke(ctx, getBulk, { id }));
      show(terminal, options.json, entry, () => entryWords(entry));
    });
}

function addCancel(bulk: Command, terminal: Terminal): void {
  bulk
    .command('cancel <id>')
    .description('cancel a bulk operation; processed items stay as they are')
    .option('--reason <text>', 'why; recorded in the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { reason?: string; json?: boolean }) => {
      const { reason } = options;
      const entry = await onMachine(terminal, (ctx) => invoke(ctx, cancelBulk, { id, reason }));
      show(terminal, options.json, entry, () => entryWords(entry));
    });
}

function addItems(bulk: Command, terminal: Terminal): void {
  bulk
    .command('items <id>')
    .description('the outcome of each item')
    .addOption(new Option('--outcome <outcome>', 'only items with this outcome').choices(bulkOutcomes))
    .option('--json', 'print JSON lines')
    .action((id: string, options: { outcome?: string; json?: boolean }) =>
      onMachine(terminal, async (ctx) => {
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const page = await invoke(ctx, listBulkItems, { id, outcome: options.outcome, limit: PAGE, cursor });
          for (const item of page.data) {
            terminal.print(
              options.json ? JSON.stringify(item) : `${item.id}  ${item.outcome}  ${item.reason ?? ''}`.trimEnd(),
            );
          }
          cursor = page.next_cursor;
        }
      }),
    );
}

function addDownload(bulk: Command, terminal: Terminal): void {
  bulk
    .command('download <id>')
    .description('the result of an export, as JSON lines')
    .action((id: string) =>
      onMachine(terminal, async (ctx) => {
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const page = await invoke(ctx, readExport, { id, limit: PAGE, cursor });
          for (const entry of page.data) terminal.print(JSON.stringify(entry));
          cursor = page.next_cursor;
        }
      }),
    );
}

function onMachine<T>(terminal: Terminal, work: (ctx: Context) => Promise<T>): Promise<T> {
  return withMachine(terminal, async (machine) => work(await machine.asWorkspace()));
}

function filterOf({ webhook, toDomain, senderDomain, domain, ...options }: FilterOptions) {
  const { queue, status, tag, to, from, priority, since, until } = options;
  const domains = { to_domain: toDomain, domain: senderDomain ?? domain };
  const named = { webhook_id: webhook, queue, status, tag, to, from, ...domains, priority, since, until };
  // Options that were not given must be absent from the filter.
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function previewWords(seen: BulkPreview): string {
  const about = seen.matched_exact ? '' : 'more than ';
  const skipped = seen.skipped.map(
    ({ reason, count: many, exact }) => `${exact ? '' : 'more than '}${many} are skipped: ${reason}`,
  );
  if (seen.matched === 0) {
    const advice = 'find the mails with logs list, and preview again';
    return [`nothing matches; ${seen.action} would do nothing: ${advice}`, ...skipped].join('\n');
  }
  return [
    `${seen.action} would process ${about}${seen.matched}`,
    ...seen.sample.map((id) => `  ${id}`),
    ...skipped,
    ...(seen.warning === null ? [] : [seen.warning]),
    `Until ${seen.expires_at}: npx postrider bulk run ${seen.token} --reason '…'`,
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
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
