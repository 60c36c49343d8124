import type { LogEntryDetail, Waiting } from '@postrider/sdk';
import type { Command } from 'commander';
import { createClient } from '../connect/client.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { statusWord } from '../terminal/status-word.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

const open = new Set(['scheduled', 'queued', 'sending', 'deferred']);

export function addEmail(program: Command, terminal: Terminal): void {
  const one = program.command('email').description('show, cancel or give up on an email');
  one
    .command('cancel <id>')
    .description('cancel an email before its first attempt')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const email = await createClient(terminal).email.cancel(id);
      show(terminal, options.json, email, () => `${email.id} is ${statusWord(email)}`);
    });
  one
    .command('give-up <id>')
    .description('stop retrying deferred recipients and cancel those not attempted yet')
    .option('--reason <text>', 'reason for the audit log')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (id: string, { reason, yes, json }: { reason?: string; yes?: boolean; json?: boolean }) => {
      if (!yes) {
        const known = await createClient(terminal).email.get(id);
        const count = known.recipients.filter(({ status }) => open.has(status)).length;
        const preview = `Postrider would stop trying to deliver ${id} to ${count} of its recipients.`;
        await confirm(terminal, { preview, count, yes });
      }
      const email = await createClient(terminal).email.giveUp(id, { reason });
      show(terminal, json, email, () => `${email.id} is ${statusWord(email)}`);
    });
  one
    .command('get <id>')
    .description('show an email with its recipients and timeline')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const email = await createClient(terminal).email.get(id);
      show(terminal, options.json, email, () => describe(email));
    });
}

/** Describes why a message has not been sent yet, and until when it waits. */
function waitingWords(waiting: Waiting): string {
  const { reason, until } = waiting;
  const facts = waitingFacts(waiting);
  return [`waiting: ${plain(reason).replaceAll('_', ' ')}${until ? ` until ${until}` : ''}`, ...facts].join(', ');
}

function waitingFacts({ hold, policy, since, ahead, eta_seconds }: Waiting): string[] {
  return [
    hold && `${hold.id}: ${plain(hold.reason)}`,
    policy && policyWords(policy),
    since && `since ${since}`,
    ahead != null && `${ahead} ahead`,
    eta_seconds != null && `in about ${eta_seconds} s`,
  ].filter((fact) => typeof fact === 'string');
}

function policyWords({ kind, destination, messages_per_minute }: NonNullable<Waiting['policy']>): string {
  const at = destination ? ` of ${plain(destination)}` : '';
  const rate = messages_per_minute == null ? '' : `, ${messages_per_minute} a minute`;
  return `${plain(kind).replaceAll('_', ' ')}${at}${rate}`;
}

/** Says what a relay told about a delivered email; null if none has it. */
function relayWords({ status, relayed, confirmed_at }: LogEntryDetail['recipients'][number]): string | null {
  if (status !== 'delivered' || !relayed) return null;
  return confirmed_at === null ? 'accepted by the relay' : `confirmed by the relay at ${confirmed_at}`;
}

function describe(email: LogEntryDetail): string {
  const facts = table([
    ['id', email.id],
    ['status', statusWord(email)],
    ['from', plain(email.from)],
    ['subject', plain(email.subject)],
    ['created', email.created_at],
  ]);
  const recipients = table(
    email.recipients.map((recipient) => {
      const { kind, email: address, attempts, last_response, waiting } = recipient;
      return [
        `  ${kind}`,
        address,
        statusWord(recipient),
        `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
        [waiting && waitingWords(waiting), relayWords(recipient), last_response && plain(last_response)]
          .filter(Boolean)
          .join(', '),
      ];
    }),
  );
  const events = table(email.events.map((event) => [`  ${event.created_at}`, event.type, event.recipient_id ?? '']));
  return [facts, '', 'recipients', recipients, '', 'events', events]
    .map((part) => part.replace(/ +$/gm, ''))
    .join('\n');
}
