import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Client, createClient } from '../connect/client.ts';
import { Problem } from '../terminal/problem.ts';
import { show, type Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { type EmailEntry, emailPage, entryLine } from './email-answer.ts';

const PAGE = 100;
// Every plan allows 60 log requests a minute; half of them are left for other clients of the key.
const DEFAULT_SECONDS = 2;

interface TailOptions {
  readonly last: number;
  readonly interval: number;
  readonly json?: boolean;
}

interface ListOptions {
  readonly status?: string;
  readonly tag?: readonly string[];
  readonly to?: string;
  readonly toDomain?: string;
  readonly from?: string;
  readonly domain?: string;
  readonly priority?: string;
  readonly since?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function addLogs(program: Command, terminal: Terminal): void {
  const logs = program.command('logs').description('the log of mails');
  logs
    .command('list')
    .description('the newest mails that match a filter')
    .option('--status <list>', 'any of these, such as deferred,failed')
    .option('--tag <tag...>', 'tags that a mail must all carry')
    .option('--to <address>', 'a recipient, copies included')
    .option('--to-domain <name>', 'the domain of one of its recipients')
    .option('--from <address>', 'the sender')
    .option('--domain <name>', 'the domain of from')
    .option('--priority <priority>', 'high, normal or bulk')
    .option('--since <time>', 'from this time on, as ISO 8601')
    .option('--limit <count>', 'how many at most', wholeNumber(1, PAGE), 20)
    .option('--json', 'print JSON')
    .action(async ({ json, tag = [], toDomain, ...options }: ListOptions) => {
      const query = new URLSearchParams(tag.map((one) => ['tag', one]));
      if (toDomain !== undefined) query.set('to_domain', toDomain);
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      const found = await createClient(terminal).call('GET', `/email/logs?${query}`, emailPage);
      const more = found.has_more ? ['There are more; narrow the filter, or raise --limit.'] : [];
      const none = found.data.length === 0 ? ['nothing matches'] : [];
      show(terminal, json, found, () => [...found.data.map(entryLine), ...none, ...more].join('\n'));
    });
  logs
    .command('tail')
    .description('print new mails as they are accepted, until Ctrl-C')
    .option('-n, --last <count>', 'how many earlier mails to begin with', wholeNumber(0, PAGE), 10)
    .option('--interval <seconds>', 'how often to ask', wholeNumber(1, 3600), DEFAULT_SECONDS)
    .option('--json', 'print one JSON object a line')
    .action(async (options: TailOptions) => {
      const ended = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
      await tail(terminal, createClient(terminal), options, ended.signal);
    });
}

async function tail(terminal: Terminal, client: Client, options: TailOptions, signal: AbortSignal): Promise<void> {
  const printAll = (entries: readonly EmailEntry[]) => {
    for (const entry of entries)
      terminal.print((options.json ?? terminal.json) ? JSON.stringify(entry) : entryLine(entry));
  };
  const newest = await pageOf(client, null);
  printAll(newest.data.slice(0, options.last).reverse());
  const floor = newest.data[0]?.id ?? '';
  let seen: ReadonlySet<string> = new Set(newest.data.map((entry) => entry.id));
  while (await paused(options.interval, signal)) {
    try {
      const found = await newerThan(client, floor, seen);
      printAll(found.fresh);
      seen = found.seen;
    } catch (error) {
      if (!(error instanceof Problem) || !error.facts.passing) throw error;
      terminal.note(`${error.facts.reason}: ${error.message} Trying again.`);
    }
  }
}

/**
 * New entries, oldest first. Ids sort by time but commits do not: a mail may appear after a younger one was printed, so
 * a page is compared entry by entry and not cut at the last id.
 */
async function newerThan(client: Client, floor: string, seen: ReadonlySet<string>) {
  const fresh: EmailEntry[] = [];
  const read = new Set(seen);
  let cursor: string | null = null;
  for (;;) {
    const page = await pageOf(client, cursor);
    const unseen = page.data.filter((entry) => entry.id > floor && !seen.has(entry.id));
    fresh.push(...unseen);
    for (const entry of page.data) read.add(entry.id);
    cursor = page.next_cursor;
    if (cursor === null || unseen.length < page.data.length) return { fresh: fresh.reverse(), seen: newestOf(read) };
  }
}

/** Keeps enough ids to recognize every entry of the next page. */
function newestOf(ids: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...ids].sort().slice(-10 * PAGE));
}

async function pageOf(client: Client, cursor: string | null) {
  const query = new URLSearchParams({ limit: String(PAGE), ...(cursor !== null && { cursor }) });
  return client.call('GET', `/email/logs?${query}`, emailPage);
}

async function paused(seconds: number, signal: AbortSignal): Promise<boolean> {
  await pause(seconds * 1000, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
