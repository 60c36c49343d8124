import { type Context, invoke } from '@postrider/core';
import { type AuditEntry, listAudit, verifyAudit } from '@postrider/core/audit';
import type { Command } from 'commander';
import { withMachine } from '../connect/machine.ts';
import { Problem } from '../terminal/problem.ts';
import { foundTable, plain, show, type Terminal } from '../terminal/terminal.ts';

interface ChainOptions {
  readonly instance?: boolean;
  readonly workspace?: string;
  readonly json?: boolean;
}

interface ListOptions extends ChainOptions {
  readonly action?: string;
  readonly target?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
}

export function addAudit(program: Command, terminal: Terminal): void {
  const audit = program.command('audit').description('on the machine itself: the audit log');
  const command = (name: string, description: string) =>
    audit
      .command(name)
      .description(description)
      .option('--instance', 'the log of the instance: queues, destinations, workspaces, plans')
      .option('--workspace <id>', 'another workspace than the oldest');
  const filtered = (name: string, description: string) =>
    command(name, description)
      .option('--action <actions>', 'one action or a comma list, such as api_key.revoked')
      .option('--target <id>', 'the id of the target')
      .option('--actor <id>', 'the id of the actor')
      .option('--since <time>', 'ISO 8601; without an offset it is UTC')
      .option('--until <time>', 'ISO 8601; without an offset it is UTC');
  filtered('list', 'newest first')
    .option('--limit <count>', 'how many', '20')
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => {
      const page = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(options.workspace), listAudit, {
          ...requestOf(options),
          limit: options.limit,
        }),
      );
      show(terminal, options.json, page, () => foundTable(page.data.map(rowOf)));
    });
  filtered('export', 'every entry as a line of JSON, newest first').action(async (options: ListOptions) => {
    await withMachine(terminal, async (machine) => {
      const ctx = await machine.asWorkspace(options.workspace);
      for await (const entry of everyEntry(ctx, requestOf(options))) terminal.print(JSON.stringify(entry));
    });
  });
  command('verify', 'walk the chain, and name the first entry that does not fit')
    .option('--json', 'print JSON')
    .action(async (options: ChainOptions) => {
      const found = await withMachine(terminal, async (machine) =>
        verifyAll(await machine.asWorkspace(options.workspace), chainOf(options)),
      );
      if (found.broken) {
        const { sequence, id, problem } = found.broken;
        throw new Problem({
          reason: 'audit_broken',
          message: `Entry ${sequence}${id === null ? '' : ` (${id})`} is ${problem}; the ${found.verified} before it are intact.`,
          advice: 'The audit log was changed in the database directly. Compare it with an earlier backup.',
        });
      }
      show(terminal, options.json, found, () => `${found.verified} entries are intact\nhead ${found.head ?? 'none'}`);
    });
}

function chainOf({ instance }: ChainOptions): 'instance' | 'workspace' {
  return instance ? 'instance' : 'workspace';
}

function requestOf(options: ListOptions): Record<string, unknown> {
  const { action, target: target_id, actor: actor_id, since, until } = options;
  const all = { chain: chainOf(options), action, target_id, actor_id, since, until };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

async function* everyEntry(ctx: Context, request: Record<string, unknown>): AsyncGenerator<AuditEntry> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof pageAt>> = await pageAt(ctx, request, cursor);
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

function pageAt(ctx: Context, request: Record<string, unknown>, cursor: string | null) {
  return invoke(ctx, listAudit, { ...request, limit: 100, ...(cursor !== null && { cursor }) });
}

async function verifyAll(ctx: Context, chain: 'instance' | 'workspace') {
  for (let after = 0; ; ) {
    const found = await invoke(ctx, verifyAudit, { chain, after });
    if (found.complete) return found;
    after = found.verified;
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
