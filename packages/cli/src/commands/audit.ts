import type { AuditEntry, AuditVerification } from '@postrider/core/audit';
import { type Command, Option } from 'commander';
import { entriesOf, graphql, listQuery, pageOf, query, select } from '../connect/graphql.ts';
import { Problem } from '../terminal/problem.ts';
import { progressOf } from '../terminal/progress.ts';
import { foundTable, plain, show, type Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

interface ChainOptions {
  readonly instance?: boolean;
  readonly json?: boolean;
}

interface ListOptions extends ChainOptions {
  readonly action?: string;
  readonly kind?: string;
  readonly target?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function addAudit(program: Command, terminal: Terminal): void {
  const audit = program.command('audit').description('the audit log of the workspace or the instance');
  const command = (name: string, description: string) =>
    audit
      .command(name)
      .description(description)
      .option('--instance', 'use the instance log for queues, destinations, workspaces and plans (operators only)');
  const filtered = (name: string, description: string) =>
    command(name, description)
      .option('--action <actions>', 'one or more actions, comma-separated, such as api_key.revoked')
      .addOption(
        new Option('--kind <kind>', 'changes, or reads of data such as email content').choices(['changes', 'reads']),
      )
      .option('--target <id>', 'target ID')
      .option('--actor <id>', 'actor ID')
      .option('--since <time>', 'at or after this time (ISO 8601, UTC if there is no offset)')
      .option('--until <time>', 'before this time (ISO 8601, UTC if there is no offset)');
  filtered('list', 'list entries, newest first')
    .option('--limit <count>', 'number of results', wholeNumber(1, 100), 20)
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => {
      const entries = await pageOf(terminal, auditLog, { ...filterOf(options), first: options.limit });
      const page = { ...entries, data: entries.data.map(entryOf) };
      show(terminal, options.json, page, () => foundTable(page.data.map(rowOf)));
    });
  filtered('export', 'print every entry as a line of JSON, newest first').action(async (options: ListOptions) => {
    const entries = entriesOf(terminal, auditLog, filterOf(options));
    for await (const entry of entries) terminal.print(JSON.stringify(entryOf(entry)));
  });
  command('verify', 'verify the hash chain and report the first broken entry')
    .option('--json', 'print JSON')
    .action(async (options: ChainOptions) => {
      const verification = await verifyAll(terminal, options);
      if (verification.broken) {
        const { sequence, id, problem } = verification.broken;
        throw new Problem({
          reason: 'audit_broken',
          message: `Entry ${sequence}${id === null ? '' : ` (${id})`} is ${problem}. The ${verification.verified} entries before it are intact.`,
          advice: 'Someone changed the audit log directly in the database. Compare it with an earlier backup.',
        });
      }
      show(
        terminal,
        options.json,
        verification,
        () => `${verification.verified} entries are intact\nhead ${verification.head ?? 'none'}`,
      );
    });
}

const auditLog = listQuery(
  'auditLog',
  { filter: 'AuditFilter' },
  select<AuditEntry>('id sequence at via action targetId diff reason ip requestId actor { kind id name }'),
);
const auditVerify = query(
  'auditVerify',
  { chain: 'AuditChain', after: 'Int' },
  select<AuditVerification>('verified length complete head broken { sequence id problem }'),
);

function entryOf(entry: AuditEntry): AuditEntry {
  return { ...entry, object: 'audit_entry' };
}

function chainOf({ instance }: ChainOptions): 'INSTANCE' | 'WORKSPACE' {
  return instance ? 'INSTANCE' : 'WORKSPACE';
}

function filterOf(options: ListOptions) {
  const { action, kind, target: targetId, actor: actorId, since, until } = options;
  const filter = {
    chain: chainOf(options),
    action: action?.split(','),
    kind: kind?.toUpperCase(),
    targetId,
    actorId,
    since,
    until,
  };
  return { filter };
}

async function verifyAll(terminal: Terminal, options: ChainOptions): Promise<AuditVerification> {
  const progress = progressOf(terminal, 'verified');
  for (let after = 0; ; ) {
    const step = await graphql(terminal, auditVerify, { chain: chainOf(options), after });
    progress.show(step.verified, step.length);
    if (step.complete) {
      progress.end();
      return { ...step, object: 'audit_verification' };
    }
    after = step.verified;
  }
}

function rowOf(entry: AuditEntry): string[] {
  return [
    entry.at,
    `${entry.actor.kind} ${plain(entry.actor.name)}`,
    entry.via,
    entry.action,
    plain(entry.target_id),
    entry.diff === null ? '' : plain(JSON.stringify(entry.diff)),
    plain(entry.reason ?? ''),
  ];
}
