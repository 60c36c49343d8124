import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SendRequest } from '@postrider/sdk';
import { type Command, Option } from 'commander';
import { createClient } from '../connect/client.ts';
import { fileOf } from '../terminal/called-from.ts';
import { Problem } from '../terminal/problem.ts';
import { show, type Terminal } from '../terminal/terminal.ts';

// The limit of POST /email/send, checked before a file is read into memory.
const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;

interface SendOptions {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly replyTo?: string;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: readonly string[];
  readonly tag?: readonly string[];
  readonly header?: readonly string[];
  readonly metadata?: readonly string[];
  readonly schedule?: string;
  readonly scheduledAt?: string;
  readonly priority?: string;
  readonly retain?: string;
  readonly idempotencyKey?: string;
  readonly json?: boolean;
}

export function addSend(program: Command, terminal: Terminal): void {
  program
    .command('send')
    .description('send an email')
    .requiredOption('--from <mailbox>', 'a@b.c or "Name <a@b.c>", on a verified domain')
    .requiredOption('--to <mailbox...>', 'one or more')
    .option('--cc <mailbox...>')
    .option('--bcc <mailbox...>')
    .option('--reply-to <mailbox>')
    .requiredOption('--subject <text>')
    .option('--text <text>', 'plain text body (default: generated from --html)')
    .option('--html <html>', 'HTML body')
    .option('--attach <path...>', 'files to attach; up to 10 MiB in total, including the bodies')
    .option('--tag <tag...>', 'up to five')
    .option('--header <line...>', 'custom header, as "Name: value"')
    .option('--metadata <pair...>', 'metadata stored with the email but not sent, as name=value')
    .option('--schedule <time>', 'time to send the email (ISO 8601), up to 366 days ahead')
    .addOption(new Option('--scheduled-at <time>', 'same as --schedule').conflicts('schedule'))
    .option('--priority <priority>', 'high, normal or bulk')
    .option('--retain <what>', 'none: delete the content after the last attempt')
    .option('--idempotency-key <key>', 'idempotency key; repeating the command with the same key doesn’t send again')
    .option('--json', 'print JSON')
    .action(async (options: SendOptions) => {
      const { idempotencyKey: idempotency_key } = options;
      const message = messageOf(options, await attachments(terminal, options.attach));
      const sent = await createClient(terminal).email.send(message, { idempotency_key });
      show(terminal, options.json, sent, () => `${sent.id}  ${becomes(sent.status, timeOf(options))}`);
    });
}

function timeOf({ schedule, scheduledAt }: SendOptions): string | undefined {
  return schedule ?? scheduledAt;
}

/**
 * Describes the status of an accepted message. A queued message with a schedule waits for that time, because the
 * service rejects a time in the past.
 */
function becomes(status: string, schedule: string | undefined): string {
  return schedule === undefined || status !== 'queued' ? status : `scheduled for ${schedule}`;
}

/** Returns the body of POST /email/send, without options that were not given, so that the server's defaults apply. */
function messageOf(options: SendOptions, attached: readonly Attachment[] | undefined): SendRequest {
  const { from, to, cc, bcc, replyTo, subject, text, html, tag, header, metadata } = options;
  const { priority, retain } = options;
  return {
    from,
    to,
    cc,
    bcc,
    reply_to: replyTo,
    subject,
    text,
    html,
    attachments: attached,
    tags: tag,
    headers: header && pairs('--header', header, ':'),
    metadata: metadata && pairs('--metadata', metadata, '='),
    scheduled_at: timeOf(options),
    priority,
    retain,
  };
}

interface Attachment {
  readonly filename: string;
  readonly content: string;
}

/** Reads files as API attachments; the server derives their types from the names. */
async function attachments(
  terminal: Terminal,
  paths: readonly string[] | undefined,
): Promise<Attachment[] | undefined> {
  if (!paths) return undefined;
  let total = 0;
  for (const path of paths) total += (await readSource(path, () => stat(fileOf(terminal, path)))).size;
  if (total > MAX_ATTACHMENT_BYTES) {
    throw new Problem({
      reason: 'body_too_large',
      message: `The attachments are ${total} bytes in total. The maximum is ${MAX_ATTACHMENT_BYTES}, including html and text.`,
      advice: 'Attach fewer or smaller files, or send a link instead.',
    });
  }
  return Promise.all(
    paths.map(async (path) => ({
      filename: basename(path),
      content: (await readSource(path, () => readFile(fileOf(terminal, path)))).toString('base64'),
    })),
  );
}

async function readSource<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const cause = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new Problem({
      reason: 'unreadable_file',
      message: `${path} cannot be read: ${cause}.`,
      advice: 'Use --attach with a file, not a directory.',
    });
  }
}

function pairs(option: string, values: readonly string[], separator: ':' | '='): Record<string, string> {
  return Object.fromEntries(
    values.map((pair) => {
      const at = pair.indexOf(separator);
      if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      throw new Problem({
        reason: 'invalid_option',
        message: `${option} "${pair}" must have a "${separator}" after the name.`,
        advice: `Write it as ${separator === ':' ? '"Name: value"' : 'name=value'}.`,
      });
    }),
  );
}
