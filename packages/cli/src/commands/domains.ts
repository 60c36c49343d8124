import { program_name } from '@postrider/core/program';
import type { DnsRecord, Domain } from '@postrider/sdk';
import { type Command, Option } from 'commander';
import { all, createClient } from '../connect/client.ts';
import { countEmails } from '../connect/count-emails.ts';
import { graphql, mutation, select } from '../connect/graphql.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

const OPEN = 'scheduled,queued,sending,deferred';

// A DKIM key is hundreds of characters long; the zone file and the steps show it in full.
const SHOWN_VALUE = 60;

interface AddOptions {
  readonly selector?: string;
  readonly returnPath?: string;
  readonly json?: boolean;
}

interface DoctorOptions {
  readonly format: 'table' | 'zone' | 'steps';
  readonly json?: boolean;
}

interface SuspendOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

export function addDomains(program: Command, terminal: Terminal): void {
  const domains = program.command('domains').description('sending domains');
  const json = ['--json', 'print JSON'] as const;
  domains
    .command('list')
    .description('newest first')
    .option(...json)
    .action((options: { json?: boolean }) => list(terminal, options.json));
  domains
    .command('add <name>')
    .description('add a domain and print the DNS records to publish')
    .option('--selector <label>', 'DKIM selector (default: pr1)')
    .option('--return-path <name>', 'subdomain that receives bounces')
    .option(...json)
    .action(async (name: string, { selector, returnPath, json }: AddOptions) => {
      const body = { name, dkim_selector: selector, return_path: returnPath };
      const added = await createClient(terminal).domains.add(body);
      const words = await inWords(added);
      show(
        terminal,
        json,
        added,
        () => `${words}\n\nFor the full values, run ${program_name} domains doctor ${added.name} --format zone`,
      );
    });
  domains
    .command('verify <name>')
    .description('check the DNS records now; exit code 1 if the domain still cannot send')
    .option(...json)
    .action(async (name: string, options: { json?: boolean }) => {
      const domain = await createClient(terminal).domains.verify(name);
      const words = await inWords(domain);
      show(terminal, options.json, domain, () => words);
      if (!domain.can_send) terminal.fail();
    });
  domains
    .command('doctor <name>')
    .description(
      'diagnose the DNS of any domain without changing anything; exit code 1 if a required record is missing or wrong',
    )
    .addOption(new Option('--format <format>', 'output format').choices(['table', 'zone', 'steps']).default('table'))
    .option(...json)
    .action((name: string, options: DoctorOptions, command: Command) => {
      // A format that was asked for also wins where the output is a file.
      const json = options.json ?? (command.getOptionValueSource('format') === 'cli' ? false : undefined);
      return examine(terminal, name, { ...options, ...(json !== undefined && { json }) });
    });
  domains
    .command('rotate-keys <name>')
    .description('create new DKIM keys; they start signing once their records have been published for a day')
    .option(...json)
    .action(async (name: string, options: { json?: boolean }) => {
      const domain = await createClient(terminal).domains.rotateKeys(name);
      const words = await inWords(domain);
      show(terminal, options.json, domain, () => words);
    });
  domains
    .command('remove <name>')
    .description('remove a domain and its keys; its unsent email is canceled')
    .option(...yesOption)
    .option(...json)
    .action(async (name: string, options: { json?: boolean; yes?: boolean }) => {
      if (!options.yes) {
        const { count, words } = await countEmails(createClient(terminal), { domain: name, status: OPEN });
        const preview = `${name} and its keys would be removed, and ${words} from this domain canceled.`;
        await confirm(terminal, { preview, count, yes: false });
      }
      const removal = await createClient(terminal).domains.remove(name);
      show(terminal, options.json, removal, () => `${removal.name}  removed`);
    });
  const workspace = ['--workspace <id>', 'workspace (default: the one the key belongs to)'] as const;
  domains
    .command('suspend <name> <reason>')
    .description('stop a domain from sending (operators only)')
    .option(...workspace)
    .option(...json)
    .action(async (name: string, reason: string, { workspace, json }: SuspendOptions) => {
      const input = { name, reason, workspaceId: workspace };
      const { domain } = await graphql(terminal, domainSuspend, { input });
      show(terminal, json, domain, () => headOf(domain));
    });
  domains
    .command('resume <name>')
    .description('allow a suspended domain to be verified again (operators only)')
    .option(...workspace)
    .option(...json)
    .action(async (name: string, { workspace, json }: SuspendOptions) => {
      const input = { name, workspaceId: workspace };
      const { domain } = await graphql(terminal, domainResume, { input });
      show(terminal, json, domain, () => headOf(domain));
    });
}

interface DomainPayload {
  readonly domain: Pick<Domain, 'name' | 'status' | 'status_reason'>;
}

const DOMAIN =
  select<DomainPayload>(`... on DomainPayload { domain { id name status canSend statusReason createdAt verifiedAt
  lastCheckedAt nextCheckAt } }`);
const domainSuspend = mutation('domainSuspend', 'SuspendInput', DOMAIN);
const domainResume = mutation('domainResume', 'DomainNameInput', DOMAIN);

async function list(terminal: Terminal, json: boolean | undefined): Promise<void> {
  const data = await all(createClient(terminal).domains.list({ limit: 100 }));
  show(terminal, json, { object: 'list', data }, () =>
    table(
      data.map(({ name, status, next_check_at }) => [name, status, next_check_at ? `next check ${next_check_at}` : '']),
    ),
  );
}

async function examine(terminal: Terminal, name: string, { format, json }: DoctorOptions): Promise<void> {
  const examination = await createClient(terminal).domains.examine(name);
  const records = await recordsInWords(examination.dns_records);
  show(terminal, json, examination, () => {
    if (format === 'zone') return examination.zone_file.trimEnd();
    if (format === 'steps') {
      return examination.steps.map((step, index) => `${index + 1}. ${plain(step)}`).join('\n') || 'No action needed.';
    }
    const state = examination.added
      ? examination.status
      : `not added yet; run ${program_name} domains add to get the other records`;
    return `${examination.name}  ${state}\n${records}`;
  });
  if (!examination.healthy) terminal.fail();
}

async function inWords(domain: Domain): Promise<string> {
  return `${headOf(domain)}\n${await recordsInWords(domain.dns_records)}`;
}

function headOf({ name, status, status_reason }: Pick<Domain, 'name' | 'status' | 'status_reason'>): string {
  return [name, status, ...(status_reason === null ? [] : [plain(status_reason)])].join('  ');
}

/** Formats a line per record, with advice on each below the table. */
async function recordsInWords(records: readonly DnsRecord[]): Promise<string> {
  const lines = records.map(({ status, purpose, required, type, host, value }) => [
    status,
    required ? `${purpose} (required)` : purpose,
    type,
    host,
    value.length > SHOWN_VALUE ? `${value.slice(0, SHOWN_VALUE)}…` : value,
  ]);
  const advice = records.flatMap(({ status, type, host, found, hint, key_role }) => {
    const description = `${host} ${type}${key_role === 'next' ? ' (next key)' : key_role === 'retired' ? ' (previous key, still needed)' : ''}`;
    if (hint === null || status === 'pending') return [];
    const found_lines =
      found.length > 0 ? [`  found: ${found.map((text) => plain(text).slice(0, SHOWN_VALUE)).join(' | ')}`] : [];
    return [`${description}: ${plain(hint)}`, ...found_lines];
  });
  // A record that was never checked has no diagnosis, so all pending ones share one piece of advice.
  const pending = records.filter(({ status }) => status === 'pending');
  if (pending.length > 0) {
    const { serverNameAdvice } = await import('@postrider/core/domains');
    const first = serverNameAdvice(pending);
    if (first !== null) advice.unshift(first);
  }
  return [table(lines), ...(advice.length > 0 ? ['', ...advice] : [])].join('\n');
}
