import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { invoke } from '@postrider/core';
import { program_name } from '@postrider/core/program';
import { checkRestore, type KnownSent, type RestoreCheck, readReplica, readSentLog } from '@postrider/core/restores';
import { connect, type Sql } from '@postrider/db';
import type { Command } from 'commander';
import { fileOf } from '../terminal/called-from.ts';
import { Problem } from '../terminal/problem.ts';
import { show, type Terminal } from '../terminal/terminal.ts';
import { withMachine } from './machine.ts';

const MAX_SHOWN = 10;

interface Options {
  readonly sent?: readonly string[];
  readonly replica?: string;
  readonly close?: boolean;
  readonly json?: boolean;
}

export function addRestoreCheck(program: Command, terminal: Terminal): void {
  program
    .command('restore-check')
    .description('local: after a restore, hold all email and report what was sent since the backup')
    .option('--sent <file...>', 'logs of sent email: lines with Message-IDs, addresses and a success status')
    .option('--replica <url>', 'a surviving database, as postgres://…')
    .option('--close', 'close everything that the logs or the database report as sent, so it isn’t sent again')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const replica = options.replica === undefined ? null : openReplica(options.replica);
      try {
        const sources: KnownSent[] = replica ? [readReplica('the replica', replica)] : [];
        for (const file of options.sent ?? []) sources.push(await openLog(terminal, file));
        const checked = await withMachine(terminal, async (machine) =>
          invoke(await machine.asWorkspace(), checkRestore, { sources, close: options.close }),
        );
        show(terminal, options.json, checked, () => reportText(checked, sources.length > 0));
      } finally {
        await replica?.end({ timeout: 2 });
      }
    });
}

function openReplica(url: string): Sql {
  return connect(url, { max: 1, application_name: 'postrider-restore-check' });
}

async function openLog(terminal: Terminal, name: string): Promise<KnownSent> {
  const file = fileOf(terminal, name);
  await access(file).catch(() => {
    const advice = 'Use a text file whose lines contain Message-IDs.';
    throw new Problem({ reason: 'file_not_found', message: `${name} cannot be read.`, advice });
  });
  return readSentLog(name, createInterface({ input: createReadStream(file, 'utf8') }));
}

function reportText(checked: RestoreCheck, compared: boolean): string {
  const { hold, open, known_sent, perhaps_sent, known_ended, unclear_lines, missing, missing_closed, closed } = checked;
  const states = Object.entries(open).map(([state, count]) => `${count} ${state}`);
  return [
    `${hold.id} holds all email and webhooks until you release it`,
    checked.live_workers > 0
      ? `${checked.live_workers} ${checked.live_workers === 1 ? 'worker is' : 'workers are'} already running and may have sent email before the hold`
      : null,
    `newest email accepted at ${checked.newest_mail_at ?? '-'}`,
    `open: ${states.join(', ')}; ${checked.open_webhook_deliveries} webhook deliveries, ${checked.open_bulk_operations} bulk operations`,
    ...(compared
      ? [
          `open here, but known to have been sent after the backup: ${known_sent.count}${closed > 0 ? `; ${closed} closed as delivered` : ''}`,
          ...some(
            known_sent.listed.map((one) => `${one.email_id}  ${one.email}  ${one.known_by}`),
            known_sent.count,
          ),
          `may have been sent after the backup (an attempt was in progress, or the same email was sent to another recipient): ${perhaps_sent.count}`,
          ...some(
            perhaps_sent.listed.map((one) => `${one.email_id}  ${one.email}  ${one.known_by}`),
            perhaps_sent.count,
          ),
          `ended after the backup without being sent, but still open here (cancel the ones you don’t want to send): ${known_ended.count}`,
          ...some(
            known_ended.listed.map((one) => `${one.email_id}  ${one.email}  ${one.known_by}`),
            known_ended.count,
          ),
          ...(unclear_lines.count > 0
            ? [
                `log lines that name an email without saying whether it was sent (counted as not sent): ${unclear_lines.count}`,
                ...some(
                  unclear_lines.listed.map(({ log, line_number, line }) => `${log}:${line_number}  ${line}`),
                  unclear_lines.count,
                ),
              ]
            : []),
          `accepted after the backup, missing here and not known to be finished (their senders must send them again): ${missing.count}`,
          ...some(missing.listed, missing.count),
          `accepted after the backup, missing here, but sent to every recipient that the log names, or closed in the replica (before you send one again, check for recipients that the log doesn’t name): ${missing_closed.count}`,
          ...some(missing_closed.listed, missing_closed.count),
        ]
      : ['what was sent after the backup is unknown; use --sent with a log or --replica with a database']),
    `when you’re done: ${program_name} queues release --local ${hold.id}`,
  ]
    .filter((line) => line !== null)
    .join('\n');
}

function some(lines: readonly string[], count: number): string[] {
  const list = lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`);
  return count > list.length ? [...list, `  … and ${count - list.length} more; use --json to list up to 1000`] : list;
}
