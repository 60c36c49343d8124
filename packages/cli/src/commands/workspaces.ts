import { invoke, type Operation } from '@postrider/core';
import {
  createWorkspace,
  listWorkspaces,
  setWorkspacePlan,
  unknownPolicies,
  updateWorkspace,
  type WorkspaceEntry,
} from '@postrider/core/workspaces';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { withMachine } from '../connect/machine.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface UpdateOptions {
  readonly name?: string;
  readonly unknownPolicy?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

export function addWorkspaces(program: Command, terminal: Terminal): void {
  const workspaces = program
    .command('workspaces')
    .description('on the machine itself: the workspaces of this instance');
  const run = <I extends z.ZodType, O>(operation: Operation<I, O>, input: unknown): Promise<O> =>
    withMachine(terminal, async (machine) => invoke(await machine.asWorkspace(), operation, input));
  workspaces
    .command('list')
    .description('newest first')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const data = await allWorkspaces(terminal);
      show(terminal, json, { object: 'list', data, has_more: false, next_cursor: null }, () => table(data.map(rowOf)));
    });
  workspaces
    .command('create <name>')
    .description('create a workspace with its sandbox domain and an admin key, printed once')
    .requiredOption('--plan <name>', 'one of plans list')
    .option('--json', 'print JSON')
    .action(async (name: string, { plan, json }: { plan: string; json?: boolean }) => {
      const made = await run(createWorkspace, { name, plan });
      show(terminal, json, made, () => `${made.api_key.secret}\n${made.id} on ${plan}; the key is shown this once`);
    });
  workspaces
    .command('update <id>')
    .description('change its name, or its policy for a mail whose SMTP reply was lost')
    .option('--name <text>', 'another name')
    .addOption(
      new Option('--unknown-policy <policy>', 'resend may send twice, stop may not send at all').choices(
        unknownPolicies,
      ),
    )
    .option('--reason <text>', 'for the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, { name, unknownPolicy: unknown_policy, reason, json }: UpdateOptions) => {
      const changed = await run(updateWorkspace, { id, name, unknown_policy, reason });
      show(terminal, json, changed, () => table([rowOf(changed)]));
    });
  workspaces
    .command('set-plan <id> <plan>')
    .description('change its plan, from its next request on')
    .option('--reason <text>', 'for the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, plan: string, { reason, json }: { reason?: string; json?: boolean }) => {
      const changed = await run(setWorkspacePlan, { id, plan, reason });
      show(terminal, json, changed, () => table([rowOf(changed)]));
    });
}

function allWorkspaces(terminal: Terminal): Promise<WorkspaceEntry[]> {
  return withMachine(terminal, async (machine) => {
    const ctx = await machine.asWorkspace();
    const found: WorkspaceEntry[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof pageAt>> = await pageAt(ctx, cursor);
      found.push(...page.data);
      cursor = page.next_cursor;
    }
    return found;
  });
}

function pageAt(ctx: Parameters<typeof invoke>[0], cursor: string | undefined) {
  return invoke(ctx, listWorkspaces, { limit: 100, cursor });
}

function rowOf({ id, name, plan, unknown_policy, created_at }: WorkspaceEntry): string[] {
  return [id, plan.name, `${unknown_policy} after a lost answer`, `since ${created_at}`, plain(name)];
}
