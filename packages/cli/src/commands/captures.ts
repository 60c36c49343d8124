import type { CaptureDetail } from '@postrider/sdk';
import type { Command } from 'commander';
import { createClient } from '../connect/client.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

// The wait of one request, well below the client's timeout.
const MAX_WAIT = 20;
const DEFAULT_WAIT = 30;

interface WaitOptions {
  readonly to?: string;
  readonly from?: string;
  readonly subject?: string;
  readonly since?: string;
  readonly timeout: number;
  readonly json?: boolean;
}

export function addCaptures(program: Command, terminal: Terminal): void {
  program
    .command('captures')
    .description('captured emails, for tests')
    .command('wait')
    .description('wait for a matching email and print the newest one with its links and one-time codes')
    .option('--to <address>', 'envelope recipient')
    .option('--from <address>', 'envelope sender')
    .option('--subject <text>', 'text in the subject')
    .option('--since <time>', 'received at or after this time (ISO 8601)')
    .option('--timeout <seconds>', 'seconds to wait', wholeNumber(0, 3600), DEFAULT_WAIT)
    .option('--json', 'print JSON')
    .action(async ({ timeout, json, ...filters }: WaitOptions) => {
      const client = createClient(terminal);
      const ends = performance.now() + timeout * 1000;
      for (;;) {
        const seconds = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
        const page = await client.captures.list({ ...filters, limit: 1, wait: Math.min(MAX_WAIT, seconds) });
        const [newest] = page.data;
        if (newest) {
          const capture = await client.captures.get(newest.id);
          show(terminal, json, capture, () => describe(capture));
          return;
        }
        if (performance.now() >= ends) {
          const message = `No captured email matched within ${timeout} s.`;
          throw new Problem({ reason: 'no_capture', message, passing: true });
        }
      }
    });
}

function describe({ id, from, sender, to, subject, received_at, links, codes }: CaptureDetail): string {
  return table([
    ['id', id],
    ['from', plain(sender)],
    ['envelope', plain(from)],
    ['to', plain(to.join(', '))],
    ['subject', plain(subject)],
    ['received', received_at],
    ...codes.map((code) => ['code', plain(code)]),
    ...links.map((link) => ['link', plain(link)]),
  ]);
}
