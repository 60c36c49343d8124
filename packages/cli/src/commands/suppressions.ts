import { readFile } from 'node:fs/promises';
import type { Postrider, Suppression, SuppressionsCreateBody } from '@postrider/sdk';
import type { Command } from 'commander';
import { createClient } from '../connect/client.ts';
import { countEmails } from '../connect/count-emails.ts';
import { endOf } from '../connect/follow.ts';
import { fileOf } from '../terminal/called-from.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { progressOf } from '../terminal/progress.ts';
import { foundTable, plain, show, type Terminal, table } from '../terminal/terminal.ts';

// Well below the size limit of one request, even with the longest addresses.
const ENTRIES_PER_REQUEST = 200;
const MAX_REASON_LENGTH = 200;

interface ListOptions {
  readonly source?: string;
  readonly email?: string;
  readonly limit: string;
  readonly json?: boolean;
}

interface AddOptions {
  readonly reason?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

export function addSuppressionCommands(program: Command, terminal: Terminal): void {
  const suppressions = program.command('suppressions').description('suppressed addresses');
  suppressions
    .command('list')
    .description('newest first')
    .option('--source <source>', 'source, such as bounce, complaint or manual')
    .option('--email <address>', 'email address (case-insensitive)')
    .option('--limit <count>', 'maximum number of results', '100')
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => {
      const data = await newest(terminal, options);
      show(terminal, options.json, { object: 'list', data }, () => foundTable(data.map(lineOf)));
    });
  suppressions
    .command('add <email>')
    .description('suppress an address')
    .option('--reason <text>', 'reason, for your team')
    .option('--expires <time>', 'expiration time (ISO 8601, UTC if there is no offset)')
    .option('--json', 'print JSON')
    .action(async (email: string, { reason, expires, json }: AddOptions) => {
      const added = await createClient(terminal).suppressions.create({ email, reason, expires_at: expires });
      show(terminal, json, added, () => ('id' in added ? table([lineOf(added)]) : ''));
    });
  suppressions
    .command('remove <email>')
    .description('remove an address from the list')
    .option('--json', 'print JSON')
    .action(async (email: string, options: { json?: boolean }) => {
      const deletion = await createClient(terminal).suppressions.delete(email);
      show(terminal, options.json, deletion, () => `${deletion.email}  removed`);
    });
  suppressions
    .command('import <file>')
    .description('suppress every address in a file: one per line, optionally followed by a comma and the reason')
    .option('--json', 'print JSON')
    .action((file: string, options: { json?: boolean }) => importFile(terminal, file, options.json));
}

async function newest(terminal: Terminal, { source, email, limit }: ListOptions): Promise<Suppression[]> {
  const max = Number(limit);
  if (!Number.isInteger(max) || max < 1) {
    throw new Problem({
      reason: 'invalid_option',
      message: '--limit must be a whole number, 1 or more.',
      advice: 'Correct the value.',
    });
  }
  const entries: Suppression[] = [];
  for await (const entry of createClient(terminal).suppressions.list({ source, email, limit: Math.min(100, max) })) {
    entries.push(entry);
    if (entries.length === max) break;
  }
  return entries;
}

/** Fails if any line was rejected for another reason than already being on the list. */
async function importFile(terminal: Terminal, file: string, json: boolean | undefined): Promise<void> {
  const lines = entriesOf(await readText(fileOf(terminal, file)));
  const client = createClient(terminal);
  const refusals: { line: number; email: string; reason: string; message: string }[] = [];
  let added = 0;
  let present = 0;
  const progress = progressOf(terminal, 'imported');
  for (let start = 0; start < lines.length; start += ENTRIES_PER_REQUEST) {
    progress.show(start, lines.length);
    const part = lines.slice(start, start + ENTRIES_PER_REQUEST);
    const results = await addAll(
      client,
      part.map(({ line: _, ...entry }) => entry),
    );
    results.forEach(({ error }, index) => {
      const { line = 0, email = '' } = part[index] ?? {};
      if (!error) added += 1;
      else if (error.reason === 'suppression_exists') present += 1;
      else refusals.push({ line, email, reason: error.reason, message: error.message });
    });
  }
  progress.end();
  for (const { line, message } of refusals) if (!json) terminal.note(`line ${line}: ${plain(message)}`);
  show(terminal, json, { added, present, refused: refusals }, () => {
    return `${added} added, ${present} already suppressed, ${refusals.length} rejected`;
  });
  if (refusals.length > 0) {
    throw new Problem({
      reason: 'partly_imported',
      message: `${refusals.length} of ${lines.length} lines were rejected. The others were added.`,
      advice: 'Correct those lines and import the file again. Existing entries are not changed.',
    });
  }
}

type Entries = NonNullable<SuppressionsCreateBody['suppressions']>;

/** Suppresses several addresses; the result for each has an error if it was rejected. */
export async function addAll(client: Postrider, suppressions: Entries) {
  const response = await client.suppressions.create({ suppressions });
  const results = 'data' in response ? response.data : [response];
  return results.map((result) => ({ error: 'error' in result ? result.error : undefined }));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const cause = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new Problem({
      reason: 'unreadable_file',
      message: `${file} cannot be read: ${cause}.`,
      advice: 'Use a text file with one address per line.',
    });
  }
}

interface Line {
  /** Line numbers start at 1. */
  readonly line: number;
  readonly email: string;
  readonly reason?: string;
}

/** Skips empty lines and a CSV header. */
function entriesOf(text: string): Line[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((content, index) => {
      const comma = content.indexOf(',');
      const email = cell(comma < 0 ? content : content.slice(0, comma));
      const reason = comma < 0 ? '' : cell(content.slice(comma + 1)).slice(0, MAX_REASON_LENGTH);
      if (email === '' || (index === 0 && !email.includes('@'))) return [];
      return [{ line: index + 1, email, ...(reason !== '' && { reason }) }];
    });
}

function cell(text: string): string {
  return text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replaceAll('""', '"')
    .trim();
}

function lineOf({ email, source, reason, created_at, expires_at }: Suppression): string[] {
  return [created_at, email, source, expires_at === null ? '' : `until ${expires_at}`, plain(reason ?? '')];
}

interface EraseOptions {
  readonly wait: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addErase(program: Command, terminal: Terminal): void {
  program
    .command('erase <email>')
    .description('erase an address and its email content, and print a receipt that omits the address')
    .option('--no-wait', 'print the erasure without waiting for it to finish')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (email: string, { wait, yes, json }: EraseOptions) => {
      const client = createClient(terminal);
      if (!yes) {
        const { count, words } = await countEmails(client, { to: email });
        const preview = `${plain(email)} and the content of ${words} would be erased permanently.`;
        await confirm(terminal, { preview, count, yes });
      }
      const erasure = await client.erasures.start({ email });
      const progress = progressOf(terminal, 'erased');
      const run = await endOf(erasure, {
        isOpen: ({ status }) => wait && status !== 'completed',
        show: ({ counts }) => progress.tell(`${Object.values(counts).reduce((sum, one) => sum + one, 0)} rows so far`),
        read: () => client.erasures.get(erasure.id),
      });
      progress.end();
      show(terminal, json, run, () =>
        [
          `${run.id}  ${run.status}`,
          table(Object.entries(run.counts).map(([kind, count]) => [kind, String(count)])),
          'The address may remain in:',
          ...run.remains.map((place) => `  ${place}`),
        ].join('\n'),
      );
    });
}
