import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { type Client, createClient } from '../connect/client.ts';
import {
  type DomainPlan,
  planDomains,
  planSuppressions,
  planWebhooks,
  type SuppressionPlan,
  type WebhookPlan,
} from '../import/plan.ts';
import { type ProviderName, providerNames, providers } from '../import/providers.ts';
import { readExport } from '../import/read-export.ts';
import { fileOf } from '../terminal/called-from.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal } from '../terminal/terminal.ts';

interface Options {
  readonly suppressions?: readonly string[];
  readonly domains?: string;
  readonly webhooks?: string;
  readonly apply?: boolean;
  readonly json?: boolean;
}

/** What one file came to. Nothing is written without --apply: then added and refused are empty. */
interface Part {
  readonly what: 'suppressions' | 'domains' | 'webhooks';
  readonly file: string;
  readonly found: number;
  /** Still to add, where nothing is written. */
  readonly to_add: number;
  readonly added: number;
  readonly present: number;
  readonly refused: readonly { readonly what: string; readonly message: string }[];
  readonly skipped: readonly { readonly line: number; readonly why: string }[];
  readonly unknown_columns: readonly string[];
  /** The secrets of new webhooks, shown this once. */
  readonly secrets?: readonly { readonly url: string; readonly secret: string }[];
}

const results = z.looseObject({
  data: z.array(z.looseObject({ error: z.looseObject({ reason: z.string(), message: z.string() }).optional() })),
});
const domainPage = z.looseObject({
  data: z.array(z.looseObject({ name: z.string() })),
  next_cursor: z.string().nullable(),
});
const webhookPage = z.looseObject({
  data: z.array(z.looseObject({ url: z.string() })),
  next_cursor: z.string().nullable(),
});
const anything = z.looseObject({});
const withSecret = z.looseObject({ secret: z.string() });

// A request of the API holds 1,000 entries and 100 kB.
const MOST_ENTRIES = 1000;
const MOST_BYTES = 95_000;
// The API takes 120 requests a minute; some are left for others.
const BYTES_OF_A_MINUTE = 100 * MOST_BYTES;
const SHORTEST_REASON = 20;
const SHOWN_LINES = 20;

export function addImport(program: Command, terminal: Terminal): void {
  program
    .command('import')
    .description('take over suppressions, domains and webhooks from another provider')
    .addArgument(new Argument('<provider>', 'whose exports they are').choices(providerNames))
    .option('--suppressions <files...>', 'exports of suppressed addresses, as CSV or JSON')
    .option('--domains <file>', 'the list of domains, as JSON or CSV; each is added as pending')
    .option('--webhooks <file>', 'the list of webhooks, as JSON')
    .option('--apply', 'write it; what is there already stays as it is')
    .option('--json', 'print JSON')
    .action((provider: ProviderName, options: Options) => run(terminal, provider, options));
}

async function run(terminal: Terminal, name: ProviderName, options: Options): Promise<void> {
  const provider = providers[name];
  const { suppressions = [], domains, webhooks, apply = false } = options;
  if (suppressions.length === 0 && !domains && !webhooks) {
    const message = 'No file was named; give one or more of --suppressions, --domains and --webhooks.';
    throw new Problem({ reason: 'missing_option', message });
  }
  // Every file is read before anything is written.
  const lists = await Promise.all(
    suppressions.map(async (file) => ({
      file,
      plan: planSuppressions(file, await readExport(fileOf(terminal, file)), provider),
    })),
  );
  const domainPlan = domains && {
    file: domains,
    plan: planDomains(domains, await readExport(fileOf(terminal, domains)), provider),
  };
  const hookPlan = webhooks && {
    file: webhooks,
    plan: planWebhooks(webhooks, await readExport(fileOf(terminal, webhooks)), provider),
  };
  const client = createClient(terminal);
  const parts: Part[] = [];
  for (const { file, plan } of lists) parts.push(await takeSuppressions(client, terminal, file, plan, apply));
  if (domainPlan) parts.push(await takeDomains(client, domainPlan.file, domainPlan.plan, apply));
  if (hookPlan) parts.push(await takeWebhooks(client, hookPlan.file, hookPlan.plan, apply));
  show(terminal, options.json, { provider: name, applied: apply, parts }, () => report(parts, apply));
  if (parts.some(({ refused }) => refused.length > 0)) terminal.fail();
}

function restOf({ skipped, unknown_columns }: Pick<Part, 'skipped' | 'unknown_columns'>) {
  return { skipped, unknown_columns };
}

/** The service alone knows what is on its list, so nothing is compared before the entries are written. */
async function takeSuppressions(
  client: Client,
  terminal: Terminal,
  file: string,
  plan: SuppressionPlan,
  apply: boolean,
): Promise<Part> {
  const counts = { added: 0, present: 0 };
  const refused: { what: string; message: string }[] = [];
  for (const part of apply ? requestsOf(inOneMinute(terminal, plan.entries)) : []) {
    const body = { suppressions: part.map(({ email, reason }) => ({ email, reason })) };
    const { data } = await patiently(terminal, () => client.call('POST', '/suppressions', results, { body }));
    for (const [index, { error }] of data.entries()) {
      const entry = part[index];
      if (!error) counts.added += 1;
      else if (error.reason === 'suppression_exists') counts.present += 1;
      else if (entry) refused.push({ what: `line ${entry.line}: ${entry.email}`, message: error.message });
    }
  }
  const found = plan.entries.length;
  const to_add = apply ? 0 : found;
  return { what: 'suppressions', file, found, to_add, ...counts, refused, ...restOf(plan) };
}

/** Of very many entries the reasons are shortened, so that they fit into the requests of a minute. */
function inOneMinute(terminal: Terminal, entries: SuppressionPlan['entries']): SuppressionPlan['entries'] {
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes <= BYTES_OF_A_MINUTE) return entries;
  const others = entries.reduce((sum, entry) => sum + sizeOf({ ...entry, reason: '' }), 0);
  const most = Math.max(SHORTEST_REASON, Math.floor((BYTES_OF_A_MINUTE - others) / entries.length));
  terminal.note(`There are so many entries that reasons are cut after ${most} characters.`);
  return entries.map((entry) => ({ ...entry, reason: entry.reason.slice(0, most).toWellFormed() }));
}

function sizeOf({ email, reason }: SuppressionPlan['entries'][number]): number {
  return Buffer.byteLength(JSON.stringify({ email, reason })) + 1;
}

/** As few requests as the limits of one allow: the API counts them by the minute. */
function requestsOf(entries: SuppressionPlan['entries']): SuppressionPlan['entries'][] {
  const requests: SuppressionPlan['entries'][number][][] = [[]];
  let bytes = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    if (bytes + size > MOST_BYTES || requests.at(-1)?.length === MOST_ENTRIES) {
      requests.push([]);
      bytes = 0;
    }
    requests.at(-1)?.push(entry);
    bytes += size;
  }
  return requests.filter((request) => request.length > 0);
}

/** A call beyond the requests of a minute waits for the next minute, once. */
async function patiently<T>(terminal: Terminal, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Problem) || error.facts.reason !== 'default_rate') throw error;
    const seconds = error.facts.retry_after_seconds ?? 60;
    terminal.note(`The requests of this minute are used up; it goes on in ${seconds} s.`);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    return call();
  }
}

async function takeDomains(client: Client, file: string, plan: DomainPlan, apply: boolean): Promise<Part> {
  const there = new Set((await everyOne(client, '/domains', domainPage)).map(({ name }) => name));
  const missing = plan.names.filter((name) => !there.has(name));
  const refused: { what: string; message: string }[] = [];
  for (const name of apply ? missing : []) {
    await client.call('POST', '/domains', anything, { body: { name } }).catch((error: unknown) => {
      refused.push({ what: name, message: refusalOf(error) });
    });
  }
  return {
    what: 'domains',
    file,
    found: plan.names.length,
    to_add: apply ? 0 : missing.length,
    added: apply ? missing.length - refused.length : 0,
    present: plan.names.length - missing.length,
    refused,
    ...restOf(plan),
  };
}

async function takeWebhooks(client: Client, file: string, plan: WebhookPlan, apply: boolean): Promise<Part> {
  const there = new Set((await everyOne(client, '/webhooks', webhookPage)).map(({ url }) => url));
  const missing = plan.webhooks.filter(({ url }) => !there.has(url));
  const refused: { what: string; message: string }[] = [];
  const secrets: { url: string; secret: string }[] = [];
  for (const webhook of apply ? missing : []) {
    await client.call('POST', '/webhooks', withSecret, { body: webhook }).then(
      ({ secret }) => secrets.push({ url: webhook.url, secret }),
      (error: unknown) => refused.push({ what: webhook.url, message: refusalOf(error) }),
    );
  }
  return {
    what: 'webhooks',
    file,
    found: plan.webhooks.length,
    to_add: apply ? 0 : missing.length,
    added: secrets.length,
    present: plan.webhooks.length - missing.length,
    refused,
    ...restOf(plan),
    secrets,
  };
}

/** A refusal of one entry; what ends the whole command is thrown. */
function refusalOf(error: unknown): string {
  if (error instanceof Problem && !error.facts.passing && error.facts.docs_url !== undefined)
    return error.facts.message;
  throw error;
}

async function everyOne<T>(
  client: Client,
  path: string,
  page: z.ZodType<{ data: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) });
    const answer: { data: T[]; next_cursor: string | null } = await client.call('GET', `${path}?${query}`, page);
    all.push(...answer.data);
    cursor = answer.next_cursor;
  }
  return all;
}

function report(parts: readonly Part[], applied: boolean): string {
  const lines = parts.flatMap((part) => {
    const { what, file, found, to_add, added, present, refused, skipped, unknown_columns, secrets = [] } = part;
    const some = (list: readonly string[]) => [
      ...list.slice(0, SHOWN_LINES).map((line) => `  ${plain(line)}`),
      ...(list.length > SHOWN_LINES ? [`  and ${list.length - SHOWN_LINES} more; --json names them all`] : []),
    ];
    const counts = applied
      ? `${added} added, ${present} were there already, ${refused.length} refused`
      : `${to_add} to add${what === 'suppressions' ? '; those on the list already stay as they are' : `, ${present} are there already`}`;
    return [
      `${what} of ${file}: ${found} found, ${counts}`,
      ...(unknown_columns.length > 0 ? [`  unknown columns, not read: ${plain(unknown_columns.join(', '))}`] : []),
      ...some(skipped.map(({ line, why }) => `entry ${line}: ${why}`)),
      ...some(refused.map(({ what, message }) => `${what}: ${message}`)),
      ...secrets.map(({ url, secret }) => `  ${url}  ${secret}  (shown this once)`),
    ];
  });
  if (!applied) lines.push('Nothing was written. Add --apply to write it.');
  return lines.join('\n');
}
