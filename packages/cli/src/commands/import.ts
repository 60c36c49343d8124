import type { Postrider } from '@postrider/sdk';
import { Argument, type Command } from 'commander';
import { all, createClient } from '../connect/client.ts';
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
import { Problem, problemOf } from '../terminal/problem.ts';
import { plain, show, type Terminal } from '../terminal/terminal.ts';
import { addAll } from './suppressions.ts';

interface Options {
  readonly suppressions?: readonly string[];
  readonly domains?: string;
  readonly webhooks?: string;
  readonly apply?: boolean;
  readonly json?: boolean;
}

/** The result for one file. Without --apply nothing is written, so `added` and `refused` are empty. */
interface Part {
  readonly what: 'suppressions' | 'domains' | 'webhooks';
  readonly file: string;
  readonly found: number;
  /** The number of entries that would be added; only set without --apply. */
  to_add: number;
  added: number;
  present: number;
  /** The command failed in this file; the rest of the file and the files after it were not processed. */
  stopped: boolean;
  readonly refused: { readonly what: string; readonly message: string }[];
  readonly skipped: readonly { readonly line: number; readonly why: string }[];
  readonly unknown_columns: readonly string[];
  /** The secrets of new webhooks; they cannot be shown again. */
  readonly secrets?: { readonly url: string; readonly secret: string }[];
}

type Secret = NonNullable<Part['secrets']>[number];

interface Taking {
  readonly terminal: Terminal;
  /** Created on first use, because a preview of suppressions needs no key. */
  readonly client: Postrider;
  readonly apply: boolean;
}

// An API request accepts up to 1,000 entries and 100 kB.
const MAX_ENTRIES = 1000;
const MAX_BYTES = 95_000;
// The API allows 120 requests per minute; some are left for the key's other clients.
const BYTES_PER_MINUTE = 100 * MAX_BYTES;
const MIN_REASON_LENGTH = 20;
const SHOWN_LINES = 20;
// Other clients may use up the window repeatedly.
const MAX_CALLS = 10;
const MAX_FAILURES = 3;
const PAUSE_SECONDS = 2;

export function addImport(program: Command, terminal: Terminal): void {
  program
    .command('import')
    .description('import suppressions, domains and webhooks from another provider')
    .addArgument(new Argument('<provider>', 'provider the exports come from').choices(providerNames))
    .option('--suppressions <files...>', 'suppression exports, as CSV or JSON')
    .option('--domains <file>', 'domain list, as JSON or CSV; each domain is added as pending')
    .option('--webhooks <file>', 'webhook list, as JSON')
    .option('--apply', 'apply the import; existing entries are not changed')
    .option('--json', 'print JSON')
    .action((provider: ProviderName, options: Options) => run(terminal, provider, options));
}

async function run(terminal: Terminal, name: ProviderName, options: Options): Promise<void> {
  const provider = providers[name];
  const { suppressions = [], domains, webhooks, apply = false } = options;
  if (suppressions.length === 0 && !domains && !webhooks) {
    const message = 'No file given. Use --suppressions, --domains or --webhooks.';
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
  const taking: Taking = {
    terminal,
    apply,
    get client() {
      return createClient(terminal);
    },
  };
  const parts: Part[] = [];
  const record = (part: Part) => {
    parts.push(part);
    return part;
  };
  const finish = () => {
    show(terminal, options.json, { provider: name, applied: apply, parts }, () => report(parts, apply));
  };
  try {
    for (const { file, plan } of lists)
      await takeSuppressions(taking, plan, record(newPart('suppressions', file, plan.entries, plan)));
    if (domainPlan) {
      const { file, plan } = domainPlan;
      await takeDomains(taking, plan, record(newPart('domains', file, plan.names, plan)));
    }
    if (hookPlan) {
      const { file, plan } = hookPlan;
      const secrets: Secret[] = [];
      await takeWebhooks(taking, plan, secrets, record({ ...newPart('webhooks', file, plan.webhooks, plan), secrets }));
    }
  } catch (error) {
    const last = parts.at(-1);
    if (last) last.stopped = true;
    // Prints the results so far before failing, because secrets cannot be shown again.
    if (parts.some(({ added, refused }) => added + refused.length > 0)) finish();
    throw error;
  }
  finish();
  if (parts.some(({ refused }) => refused.length > 0)) terminal.fail();
}

/** Returns the result of a file before anything is imported. */
function newPart(
  part: Part['what'],
  file: string,
  entries: readonly unknown[],
  { skipped, unknown_columns }: Pick<Part, 'skipped' | 'unknown_columns'>,
): Part {
  const counts = { to_add: 0, added: 0, present: 0 };
  return { what: part, file, found: entries.length, ...counts, stopped: false, refused: [], skipped, unknown_columns };
}

/** Imports suppressions. The service reports the entries that it already has, so nothing is compared before writing. */
async function takeSuppressions(taking: Taking, plan: SuppressionPlan, part: Part): Promise<void> {
  const { terminal, apply } = taking;
  if (!apply) part.to_add = plan.entries.length;
  for (const entries of apply ? requestsOf(inOneMinute(terminal, plan.entries)) : []) {
    const suppressions = entries.map(({ email, reason }) => ({ email, reason }));
    const results = await patiently(terminal, () => addAll(taking.client, suppressions));
    for (const [index, { error }] of results.entries()) {
      const entry = entries[index];
      if (!error) part.added += 1;
      else if (error.reason === 'suppression_exists') part.present += 1;
      else if (entry) part.refused.push({ what: `line ${entry.line}: ${entry.email}`, message: error.message });
    }
  }
}

/** Shortens the reasons if there are very many entries, so that all of them fit into the requests of one minute. */
function inOneMinute(terminal: Terminal, entries: SuppressionPlan['entries']): SuppressionPlan['entries'] {
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes <= BYTES_PER_MINUTE) return entries;
  const fixed_size = entries.reduce((sum, entry) => sum + sizeOf({ ...entry, reason: '' }), 0);
  const max = Math.max(MIN_REASON_LENGTH, Math.floor((BYTES_PER_MINUTE - fixed_size) / entries.length));
  terminal.note(`Reasons are truncated to ${max} characters because there are so many entries.`);
  return entries.map((entry) => ({ ...entry, reason: entry.reason.slice(0, max).toWellFormed() }));
}

function sizeOf({ email, reason }: SuppressionPlan['entries'][number]): number {
  return Buffer.byteLength(JSON.stringify({ email, reason })) + 1;
}

/** Packs entries into as few requests as the size limits allow, because the API limits requests per minute. */
function requestsOf(entries: SuppressionPlan['entries']): SuppressionPlan['entries'][] {
  const requests: SuppressionPlan['entries'][number][][] = [[]];
  let bytes = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    if (bytes + size > MAX_BYTES || requests.at(-1)?.length === MAX_ENTRIES) {
      requests.push([]);
      bytes = 0;
    }
    requests.at(-1)?.push(entry);
    bytes += size;
  }
  return requests.filter((request) => request.length > 0);
}

/**
 * Retries a call when the service says to wait. A call without a response may have been carried out, so it is retried
 * only if the service treats a repeat as the same call.
 */
async function patiently<T>(
  terminal: Terminal,
  call: () => Promise<T>,
  { repeatable = true }: { readonly repeatable?: boolean } = {},
): Promise<T> {
  for (let calls = 1; ; calls++) {
    try {
      return await call();
    } catch (error) {
      const { passing, retry_after_seconds, message } = problemOf(error)?.facts ?? {};
      if (!passing) throw error;
      const max = retry_after_seconds !== undefined ? MAX_CALLS : repeatable ? MAX_FAILURES : 1;
      if (calls >= max) throw error;
      const seconds = retry_after_seconds ?? PAUSE_SECONDS;
      terminal.note(`${message} Retrying in ${seconds} s.`);
      await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    }
  }
}

async function takeDomains({ terminal, client, apply }: Taking, plan: DomainPlan, part: Part): Promise<void> {
  const present = new Set(
    (await patiently(terminal, () => all(client.domains.list({ limit: 100 })))).map(({ name }) => name),
  );
  const missing = plan.names.filter((name) => !present.has(name));
  part.present = plan.names.length - missing.length;
  if (!apply) part.to_add = missing.length;
  for (const name of apply ? missing : []) {
    const add = () => client.domains.add({ name });
    await patiently(terminal, add, { repeatable: false }).then(
      () => {
        part.added += 1;
      },
      (error: unknown) => part.refused.push({ what: name, message: refusalOf(error) }),
    );
  }
}

async function takeWebhooks(
  { terminal, client, apply }: Taking,
  plan: WebhookPlan,
  secrets: Secret[],
  part: Part,
): Promise<void> {
  const present = new Set(
    (await patiently(terminal, () => all(client.webhooks.list({ limit: 100 })))).map(({ url }) => url),
  );
  const missing = plan.webhooks.filter(({ url }) => !present.has(url));
  part.present = plan.webhooks.length - missing.length;
  if (!apply) part.to_add = missing.length;
  for (const webhook of apply ? missing : []) {
    const add = () => client.webhooks.create(webhook);
    await patiently(terminal, add, { repeatable: false }).then(
      ({ secret }) => {
        part.added += 1;
        secrets.push({ url: webhook.url, secret });
      },
      (error: unknown) => {
        const facts = problemOf(error)?.facts;
        if (facts?.passing && facts.retry_after_seconds === undefined) {
          // If the webhook was added, a retry would add a second one for the same events, and the secret of the first
          // would be lost.
          const advice = `Check whether ${webhook.url} was added. If it was, rotate its secret. Then run the import again.`;
          throw new Problem({ ...facts, advice });
        }
        part.refused.push({ what: webhook.url, message: refusalOf(error) });
      },
    );
  }
}

/** Returns why one entry was rejected; errors that end the whole command are thrown. */
function refusalOf(error: unknown): string {
  const facts = problemOf(error)?.facts;
  if (facts && !facts.passing && facts.docs_url !== undefined) return facts.message;
  throw error;
}

function report(parts: readonly Part[], applied: boolean): string {
  const lines = parts.flatMap((part) => {
    const { what: kind, file, found, to_add, added, present, refused, skipped, unknown_columns, secrets = [] } = part;
    const some = (list: readonly string[]) => [
      ...list.slice(0, SHOWN_LINES).map((line) => `  ${plain(line)}`),
      ...(list.length > SHOWN_LINES ? [`  and ${list.length - SHOWN_LINES} more; use --json to list all`] : []),
    ];
    const counts = applied
      ? `${added} added, ${present} already present, ${refused.length} rejected`
      : `${to_add} to add${kind === 'suppressions' ? '; existing ones are not changed' : `, ${present} already present`}`;
    return [
      `${kind} in ${file}: ${found} found, ${counts}`,
      ...(unknown_columns.length > 0 ? [`  ignored columns: ${plain(unknown_columns.join(', '))}`] : []),
      ...some(skipped.map(({ line, why: reason }) => `entry ${line}: ${reason}`)),
      ...some(refused.map(({ what: label, message }) => `${label}: ${message}`)),
      ...secrets.map(({ url, secret }) => `  ${url}  ${secret}  (shown once)`),
      ...(part.stopped ? ['  stopped here; the rest was not processed'] : []),
    ];
  });
  if (!applied) lines.push('Dry run: nothing was written. Add --apply to import.');
  return lines.join('\n');
}
