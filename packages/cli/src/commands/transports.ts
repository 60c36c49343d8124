import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { TransportFeedback } from '@postrider/core/feedback';
import { program_name } from '@postrider/core/program';
import type { RoutePreview, Rule, TransportEntry, TransportHealth } from '@postrider/core/transports';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { transportsOf } from '../connect/transport-calls.ts';
import {
  envelope_senders,
  feedback_providers,
  priorities,
  signing_policies,
  tls_policies,
  transport_kinds,
} from '../connect/values.ts';
import { fileOf } from '../terminal/called-from.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

interface Options {
  readonly local?: boolean;
  readonly reach?: 'workspace' | 'instance';
  readonly json?: boolean;
}

interface RelayOptions extends Options {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: string;
  readonly passwordFile?: string;
  readonly envelopeFrom?: string;
  readonly signing?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly maxConnections?: number | null;
  readonly messagesPerMinute?: number | null;
  readonly messagesPerDay?: number | null;
}

interface CreateOptions extends RelayOptions {
  readonly kind: string;
  readonly username?: string;
}

interface UpdateOptions extends RelayOptions {
  readonly name?: string;
  /** false: --no-username. */
  readonly username?: string | false;
}

interface FeedbackOptions extends Options {
  readonly provider: string;
  readonly secretFile?: string;
}

interface PreviewOptions extends Options {
  readonly fromDomain: string;
  readonly toDomain: string;
  readonly tag?: readonly string[];
  readonly priority?: string;
  readonly workspace?: string;
  readonly rules?: string;
}

const LOCAL = ['--local', 'run on the server without an API key, connecting directly to the database'] as const;
const REACH = "instance (the default for operators), or workspace for the workspace's own transports";
const MAX_PORT = 65_535;
const MAX_LIMIT = 1_000_000_000;

export function addTransports(program: Command, terminal: Terminal): void {
  const transports = program
    .command('transports')
    .description('transports, and the rules that choose one for each email');
  const ofRelay = (command: Command) =>
    command
      .option('--host <host>', 'host name or IP address of the relay')
      .option('--port <port>', 'port of the relay (default for a new transport: 587)', wholeNumber(1, MAX_PORT))
      .option('--tls <policy>', `one of ${tls_policies.join(', ')} (default: starttls)`, oneOf(tls_policies))
      .option(
        '--envelope-from <policy>',
        `one of ${envelope_senders.join(', ')} (default: ours)`,
        oneOf(envelope_senders),
      )
      .option(
        '--signing <policy>',
        `one of ${signing_policies.join(', ')} (default: relay_safe for Amazon SES, otherwise all)`,
        oneOf(signing_policies),
      )
      .option('--header <name: value>', 'header to add to every email; repeatable', addHeader)
      .option('--max-connections <number>', 'concurrent emails per destination, or none', numberOrNone)
      .option('--messages-per-minute <number>', 'emails per minute, or none', numberOrNone)
      .option('--messages-per-day <number>', 'accepted emails per day in UTC, or none', numberOrNone);
  ending(transports.command('list').description('list transports, starting with DELIVERY, the default one')).action(
    async ({ local, reach, json }: Options) => {
      const data = await (await transportsOf(terminal, { local, reach })).list();
      show(terminal, json, { object: 'list', data, has_more: false, next_cursor: null }, () => table(data.map(rowOf)));
    },
  );
  ending(
    ofRelay(
      transports
        .command('create <name>')
        .description('create a transport; with --username, the password is read from stdin or --password-file')
        .option('--kind <kind>', `one of ${transport_kinds.join(', ')}`, oneOf(transport_kinds), 'smtp'),
    )
      .option('--username <name>', 'user name at the relay (default: no authentication)')
      .option('--password-file <file>', 'file with the password, or - for stdin'),
  ).action(async (name: string, { local, reach, json, passwordFile, ...settings }: CreateOptions) => {
    const { kind, host, port, tls, username } = settings;
    const sending = sendingOf(settings);
    const source = passwordFile ?? (username === undefined ? undefined : '-');
    const password = source === undefined ? undefined : await readPassword(terminal, source);
    const transport = { name, kind, host, port, tls, username, password, ...sending };
    const created = await (await transportsOf(terminal, { local, reach })).create(transport);
    show(terminal, json, created, () => table([rowOf(created)]));
  });
  ending(
    ofRelay(
      transports
        .command('update <transport>')
        .description('change a transport, given by its ID or name; every worker follows within five seconds')
        .option('--name <name>', 'new name'),
    )
      .option('--username <name>', 'new user name')
      .option('--no-username', 'no authentication; also removes the password')
      .option('--password-file <file>', 'file with the new password, or - for stdin'),
  ).action(async (target: string, { local, reach, json, passwordFile, ...settings }: UpdateOptions) => {
    const password = passwordFile === undefined ? undefined : await readPassword(terminal, passwordFile);
    const { name, host, port, tls } = settings;
    const username = settings.username === false ? null : settings.username;
    const api = await transportsOf(terminal, { local, reach });
    const { id } = namedIn(await api.list(), target);
    const updated = await api.update(id, { name, host, port, tls, username, password, ...sendingOf(settings) });
    show(terminal, json, updated, () => table([rowOf(updated)]));
  });
  ending(
    transports
      .command('delete <transport>')
      .description('delete a transport, given by its ID or name, that no rule names')
      .option(...yesOption),
  ).action(async (target: string, { local, reach, json, yes }: Options & { yes?: boolean }) => {
    const api = await transportsOf(terminal, { local, reach });
    const { id, name } = namedIn(await api.list(), target);
    await confirm(terminal, { preview: `Transport ${plain(name)} would be deleted.`, count: 1, yes });
    await api.delete(id);
    show(terminal, json, { object: 'transport', id, deleted: true }, () => `Deleted transport ${plain(name)}`);
  });
  ending(
    transports
      .command('test <transport>')
      .description('test a transport, given by its ID or name: DNS, connection, TLS and authentication')
      .option('--to <address>', 'also send a test email to this address')
      .option('--from <address>', 'its sender, at a verified domain (default: the sender of alerts)'),
  ).action(async (target: string, { local, reach, json, to, from }: Options & { to?: string; from?: string }) => {
    const api = await transportsOf(terminal, { local, reach });
    const { id } = namedIn(await api.list(), target);
    const checkup = await api.test(id, { to, from });
    show(terminal, json, checkup, () =>
      table(checkup.checks.map(({ name, status, detail, fix }) => [status, name, fix ? `${detail} ${fix}` : detail])),
    );
    if (checkup.status === 'failing') terminal.fail();
  });
  ending(
    transports
      .command('health')
      .description('show which transports send now, what closed the others, and how much email is pending for them'),
  ).action(async ({ local, reach, json }: Options) => {
    const api = await transportsOf(terminal, { local, reach });
    const [entries, data] = [await api.list(), await api.health()];
    show(terminal, json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
      table(data.map((health) => healthRow(health, matchIn(entries, health.transport_id)))),
    );
  });
  addRules(transports, terminal);
  addFeedback(transports, terminal);
}

function addRules(transports: Command, terminal: Terminal): void {
  ending(transports.command('rules').description('list the rules, in order')).action(
    async ({ local, reach, json }: Options) => {
      const api = await transportsOf(terminal, { local, reach });
      const [entries, data] = [await api.list(), await api.rules()];
      show(terminal, json, { object: 'transport_rules', data }, () => rulesTable(data, entries));
    },
  );
  ending(
    transports
      .command('set-rules <file>')
      .description('replace all rules with the JSON array in a file, or - for stdin'),
  ).action(async (file: string, { local, reach, json }: Options) => {
    const rules = parseRules(file, await readSource(terminal, file));
    const api = await transportsOf(terminal, { local, reach });
    const entries = await api.list();
    const data = await api.setRules(withIds(rules, entries));
    show(terminal, json, { object: 'transport_rules', data }, () => rulesTable(data, entries));
  });
  ending(
    transports
      .command('preview')
      .description('show which transports an email would use, and because of which rule')
      .requiredOption('--from-domain <domain>', 'domain of the from address')
      .requiredOption('--to-domain <domain>', 'domain of the recipient')
      .option('--tag <tag...>', 'tags of the email')
      .option('--priority <priority>', `one of ${priorities.join(', ')} (default: normal)`, oneOf(priorities))
      .option('--workspace <id>', 'workspace of the email (default: none in particular)')
      .option('--rules <file>', 'JSON array of rules to try, or - for stdin (default: the current rules)'),
  ).action(async ({ local, reach, json, rules: file, ...email }: PreviewOptions) => {
    const draft = file === undefined ? undefined : parseRules(file, await readSource(terminal, file));
    const api = await transportsOf(terminal, { local, reach });
    const route = await api.preview({
      from_domain: email.fromDomain,
      to_domain: email.toDomain,
      tags: email.tag ?? [],
      priority: email.priority,
      workspace_id: email.workspace,
      rules: draft && withIds(draft, await api.list()),
    });
    show(terminal, json, route, () => routeLine(route));
    if (route.captured) terminal.note('DELIVERY is capture: the test inbox takes all email, whatever the rules say.');
  });
}

function addFeedback(transports: Command, terminal: Terminal): void {
  const described = async (options: Options, target: string) => {
    const api = await transportsOf(terminal, { local: options.local, reach: options.reach });
    return { api, transport: namedIn(await api.list(), target) };
  };
  ending(
    transports
      .command('feedback <transport>')
      .description('show where the relay of a transport, given by its ID or name, reports, and its last reports'),
  ).action(async (target: string, options: Options) => {
    const { api, transport } = await described(options, target);
    const feedback = await api.feedback(transport.id);
    const none = { object: 'transport_feedback', transport_id: transport.id, provider: null };
    show(terminal, options.json, feedback ?? none, () =>
      feedback === null
        ? `${plain(transport.name)} reports nothing. Bounces stay with the relay.`
        : feedbackText(feedback),
    );
  });
  ending(
    transports
      .command('set-feedback <transport>')
      .description('set up the feedback of a relay, or replace its URL and secret; the previous ones work for 24 hours')
      .option(
        '--provider <provider>',
        `one of ${feedback_providers.join(', ')}`,
        oneOf(feedback_providers),
        feedback_providers[0],
      )
      .option(
        '--secret-file <file>',
        'file with the secret that SendGrid, Mailgun or Resend shows, or the ARN of the SNS topic for Amazon SES, or - for stdin',
      ),
  ).action(async (target: string, { provider, secretFile, ...options }: FeedbackOptions) => {
    const provider_secret = secretFile === undefined ? undefined : await readPassword(terminal, secretFile);
    const { api, transport } = await described(options, target);
    const { secret, ...feedback } = await api.setFeedback(transport.id, provider, provider_secret);
    show(terminal, options.json, { ...feedback, secret }, () =>
      table([['URL', feedback.url], ...(secret === null ? [] : [['secret', `${secret} (only shown now)`]])]),
    );
  });
  ending(
    transports
      .command('remove-feedback <transport>')
      .description('remove the feedback of a relay, with its reports')
      .option(...yesOption),
  ).action(async (target: string, { yes, ...options }: Options & { yes?: boolean }) => {
    const { api, transport } = await described(options, target);
    const name = plain(transport.name);
    await confirm(terminal, { preview: `The feedback of ${name} would be removed.`, count: 1, yes });
    await api.removeFeedback(transport.id);
    const deletion = { object: 'transport_feedback', transport_id: transport.id, deleted: true };
    show(terminal, options.json, deletion, () => `Removed the feedback of ${name}`);
  });
}

function feedbackText({ url, confirmed_at, rejected_at, rejection, events }: TransportFeedback): string {
  const lines = [
    ['URL', url],
    ['last request', confirmed_at ?? 'none'],
    ...(rejected_at === null ? [] : [['last rejected request', `${rejected_at}: ${plain(rejection ?? '')}`]]),
  ];
  const rows = events.map(({ received_at, kind, state, email_id, recipient, detail }) => [
    received_at,
    kind,
    state,
    email_id ?? plain(recipient ?? ''),
    plain(detail ?? ''),
  ]);
  return [table(lines), ...(rows.length === 0 ? [] : [table(rows)])].join('\n');
}

function ending(command: Command): Command {
  return command
    .addOption(new Option('--reach <side>', REACH).choices(['workspace', 'instance']))
    .option(...LOCAL)
    .option('--json', 'print JSON');
}

function oneOf(values: readonly string[]) {
  return (value: string): string => {
    if (values.includes(value)) return value;
    throw new InvalidArgumentError(`Use one of ${values.join(', ')}.`);
  };
}

function sendingOf(options: Omit<RelayOptions, keyof Options>) {
  return {
    envelope_from: options.envelopeFrom,
    signing: options.signing,
    headers: options.header,
    max_connections: options.maxConnections,
    messages_per_minute: options.messagesPerMinute,
    messages_per_day: options.messagesPerDay,
  };
}

function addHeader(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value = ''] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError('Use NAME: VALUE, for example "X-PM-Message-Stream: outbound".');
  return { ...before, [name]: value };
}

function numberOrNone(text: string): number | null {
  return text === 'none' ? null : wholeNumber(1, MAX_LIMIT)(text);
}

// Never taken as an argument: other users of the machine can see arguments, and the shell saves them in its history.
async function readPassword(terminal: Terminal, file: string): Promise<string> {
  if (file === '-') terminal.note('Paste the password, then press Enter and Ctrl-D:');
  const password = (await readSource(terminal, file)).replace(/\r?\n$/, '');
  if (password !== '') return password;
  throw new Problem({
    reason: 'missing_password',
    message: `There is no password ${file === '-' ? 'on stdin' : `in ${file}`}, so nothing was changed.`,
    advice: 'Pipe the password in, or pass its file as --password-file.',
  });
}

async function readSource(terminal: Terminal, file: string): Promise<string> {
  if (file === '-') return terminal.stdin ? text(terminal.stdin) : '';
  try {
    return await readFile(fileOf(terminal, file), 'utf8');
  } catch (error) {
    const cause = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new Problem({
      reason: 'unreadable_file',
      message: `${file} cannot be read: ${cause}.`,
      advice: 'Check the path and its permissions, or use - for stdin.',
    });
  }
}

const condition = z.string().nullable().default(null);
// Strict, because a rule that lost a misspelled condition would apply to more email.
const rulesInFile = z.array(
  z.strictObject({
    workspace_id: condition,
    from_domain: condition,
    tag: condition,
    priority: z.enum(priorities).nullable().default(null),
    destination: condition,
    transports: z.array(z.string()),
  }),
);

/** Parses an array of rules, or the JSON that `transports rules` prints. */
function parseRules(file: string, source: string): Rule[] {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw invalidRules(file, error instanceof Error ? error.message : String(error));
  }
  const list = typeof value === 'object' && value !== null && 'data' in value ? value.data : value;
  const { data, error } = rulesInFile.safeParse(list);
  if (data) return data;
  const { path = [], message = '' } = error.issues[0] ?? {};
  const [index, ...field] = path;
  const place = typeof index === 'number' ? [`rule ${index + 1}`, ...field.map(String)].join(', ') : 'the file';
  throw invalidRules(file, `${place}: ${message}`);
}

function invalidRules(file: string, cause: string): Problem {
  return new Problem({
    reason: 'invalid_rules',
    message: `${file === '-' ? 'stdin' : file} contains no valid rules. ${cause}`,
    advice: `Pass a JSON array. \`${program_name} transports rules --json\` prints the current rules.`,
  });
}

function matchIn(entries: readonly TransportEntry[], target: string): TransportEntry | undefined {
  return entries.find(({ id }) => id === target) ?? entries.find(({ name }) => name === target);
}

/** Returns rules whose transports are IDs. Unmatched names are left for the server to reject. */
function withIds(rules: readonly Rule[], entries: readonly TransportEntry[]): Rule[] {
  return rules.map((rule) => ({
    ...rule,
    transports: rule.transports.map((name) => matchIn(entries, name)?.id ?? name),
  }));
}

function namedIn(entries: readonly TransportEntry[], target: string): TransportEntry {
  const match = matchIn(entries, target);
  if (match) return match;
  throw new Problem({
    reason: 'transport_not_found',
    message: `No transport has the ID or name ${target}.`,
    advice: `Run \`${program_name} transports list\` to list transports.`,
  });
}

function rowOf({ id, name, kind, host, port, tls, username }: TransportEntry): string[] {
  return [id, plain(name), kind, host === null ? '' : `${plain(host)}:${port}`, tls ?? '', plain(username ?? '')];
}

function healthRow(
  {
    transport_id,
    status,
    closed_destinations,
    closed_until,
    waiting,
    last_reply,
    delivered_today,
    used_today,
  }: TransportHealth,
  entry: TransportEntry | undefined,
): string[] {
  const limit = entry?.messages_per_day ?? null;
  const details = [
    closed_destinations > 0 && `${counted(closed_destinations, 'destination')} closed until ${closed_until}`,
    closed_destinations > 0 && `${counted(waiting, 'email')} pending`,
    used_today === null
      ? delivered_today > 0 && `${delivered_today} delivered today`
      : `${used_today}${limit === null ? '' : ` of ${limit}`} sent today`,
    last_reply !== null && `last response: ${last_reply}`,
  ];
  const text = plain(details.filter(Boolean).join(', '));
  return [plain(entry?.name ?? transport_id), status, ...(text === '' ? [] : [text])];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function routeLine({ rule, transports }: RoutePreview): string {
  const names = transports.map(({ name }) => plain(name)).join(', then ');
  return `${rule === null ? 'No rule' : `Rule ${rule}`} applies. The email uses ${names}.`;
}

function rulesTable(rules: readonly Rule[], entries: readonly TransportEntry[]): string {
  if (rules.length === 0) return 'No rules. All email uses DELIVERY.';
  return table(
    rules.map(({ transports, ...conditions }, index) => {
      const words = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
      const names = transports.map((id) => matchIn(entries, id)?.name ?? id);
      return [`${index + 1}.`, plain(words.join(' ')) || 'all email', plain(names.join(', '))];
    }),
  );
}
