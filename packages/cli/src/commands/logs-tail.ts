import type { LogEntry } from '@postrider/sdk';
import type { Command } from 'commander';
import { createClient } from '../connect/client.ts';
import { FOLLOW_PAGE, follow } from '../connect/follow.ts';
import { statusWord } from '../terminal/status-word.ts';
import { plain, show, type Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

// Every plan allows 60 log requests per minute; half of them are left for the key's other clients.
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
  readonly transport?: string;
  readonly since?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function addLogs(program: Command, terminal: Terminal): void {
  const logs = program.command('logs').description('the email log');
  logs
    .command('list')
    .description('list the newest emails that match a filter')
    .option('--status <list>', 'statuses, such as deferred,failed')
    .option('--tag <tag...>', 'only emails that have all of these tags')
    .option('--to <address>', 'recipient, including cc and bcc')
    .option('--to-domain <name>', 'a recipient domain')
    .option('--from <address>', 'sender address')
    .option('--domain <name>', 'sender domain')
    .option('--priority <priority>', 'high, normal or bulk')
    .option('--transport <id>', 'only emails attempted through this transport, or "default"')
    .option('--since <time>', 'at or after this time (ISO 8601)')
    .option('--limit <count>', 'maximum number of results', wholeNumber(1, FOLLOW_PAGE), 20)
    .option('--json', 'print JSON')
    .action(async ({ json, toDomain, ...filter }: ListOptions) => {
      const page = await createClient(terminal).email.logs({ ...filter, to_domain: toDomain });
      const rest = page.has_more ? ['There are more results. Narrow the filter or raise --limit.'] : [];
      const none = page.data.length === 0 ? ['No results.'] : [];
      show(terminal, json, page, () => [...page.data.map(entryLine), ...none, ...rest].join('\n'));
    });
  logs
    .command('tail')
    .description('stream new emails as they are accepted, until Ctrl-C')
    .option('-n, --last <count>', 'number of earlier emails to print first', wholeNumber(0, FOLLOW_PAGE), 10)
    .option('--interval <seconds>', 'polling interval in seconds', wholeNumber(1, 3600), DEFAULT_SECONDS)
    .option('--json', 'print one JSON object per line')
    .action(async ({ last, interval, json = terminal.json }: TailOptions) => {
      const client = createClient(terminal);
      const print = (entry: LogEntry) => terminal.print(json ? JSON.stringify(entry) : entryLine(entry));
      await follow(terminal, () => client.email.logs({ limit: FOLLOW_PAGE }), {
        seconds: interval,
        begin: (newest) => newest.slice(0, last).reverse().forEach(print),
        each: print,
      });
    });
}

function entryLine(entry: LogEntry): string {
  const more = entry.to.length > 1 ? ` and ${entry.to.length - 1} more` : '';
  const to = `${plain(entry.to[0] ?? '(bcc only)')}${more}`;
  return `${entry.created_at}  ${entry.id}  ${statusWord(entry).padEnd(9)}  ${to}  ${plain(entry.subject)}`;
}
