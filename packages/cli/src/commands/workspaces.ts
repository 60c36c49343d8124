import type { WorkspaceEntry } from '@postrider/core/workspaces';
import { type Command, Option } from 'commander';
import { all } from '../connect/client.ts';
import { entriesOf, enumValue, graphql, listQuery, mutation, select } from '../connect/graphql.ts';
import { policies } from '../connect/values.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { PLAN, planOf } from './plans.ts';

interface UpdateOptions {
  readonly name?: string;
  readonly unknownPolicy?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

export function addWorkspaces(program: Command, terminal: Terminal): void {
  const workspaces = program.command('workspaces').description('workspaces, for operators');
  const set = async (change: typeof workspaceUpdate, input: Readonly<Record<string, unknown>>) =>
    workspaceOf((await graphql(terminal, change, { input })).workspace);
  workspaces
    .command('list')
    .description('newest first')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const data = (await all(entriesOf(terminal, allWorkspaces, {}))).map(workspaceOf);
      show(terminal, json, { object: 'list', data, has_more: false, next_cursor: null }, () => table(data.map(rowOf)));
    });
  workspaces
    .command('create <name>')
    .description('create a workspace with a sandbox domain and an admin key; the key is printed once')
    .requiredOption('--plan <name>', 'plan name; see plans list')
    .option('--json', 'print JSON')
    .action(async (name: string, { plan, json }: { plan: string; json?: boolean }) => {
      const { workspace, api_key_id, secret } = await graphql(terminal, workspaceCreate, { input: { name, plan } });
      const workspace_with_key = { ...workspaceOf(workspace), api_key: { object: 'api_key', id: api_key_id, secret } };
      show(
        terminal,
        json,
        workspace_with_key,
        () => `${workspace_with_key.api_key.secret}\n${workspace_with_key.id} on plan ${plan}; the key is shown once`,
      );
    });
  workspaces
    .command('update <id>')
    .description('change the name, or the policy for emails whose SMTP reply was lost')
    .option('--name <text>', 'new name')
    .addOption(
      new Option(
        '--unknown-policy <policy>',
        'resend may deliver an email twice; stop may leave it undelivered',
      ).choices(policies),
    )
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, { name, unknownPolicy: policy, reason, json }: UpdateOptions) => {
      const input = { id, name, unknownPolicy: enumValue(policy), reason };
      const changed = await set(workspaceUpdate, input);
      show(terminal, json, changed, () => table([rowOf(changed)]));
    });
  workspaces
    .command('set-plan <id> <plan>')
    .description('change the plan, effective on the next request')
    .option('--reason <text>', 'reason for the audit log')
    .option('--json', 'print JSON')
    .action(async (id: string, plan: string, { reason, json }: { reason?: string; json?: boolean }) => {
      const changed = await set(workspaceSetPlan, { id, plan, reason });
      show(terminal, json, changed, () => table([rowOf(changed)]));
    });
}

const WORKSPACE = `id name unknownPolicy createdAt plan { ${PLAN} }`;
const PAYLOAD = select<{ workspace: WorkspaceEntry }>(`... on WorkspacePayload { workspace { ${WORKSPACE} } }`);
const allWorkspaces = listQuery('workspaces', {}, select<WorkspaceEntry>(WORKSPACE));
const workspaceUpdate = mutation('workspaceUpdate', 'WorkspaceUpdateInput', PAYLOAD);
const workspaceSetPlan = mutation('workspaceSetPlan', 'PlanInput', PAYLOAD);
const workspaceCreate = mutation(
  'workspaceCreate',
  'WorkspaceInput',
  select<WorkspacePayload>(`... on WorkspaceCreatePayload { workspace { ${WORKSPACE} } apiKeyId secret }`),
);

interface WorkspacePayload {
  readonly workspace: WorkspaceEntry;
  readonly api_key_id: string;
  readonly secret: string;
}

function workspaceOf(workspace: WorkspaceEntry): WorkspaceEntry {
  return { ...workspace, object: 'workspace', plan: planOf(workspace.plan) };
}

function rowOf({ id, name, plan, unknown_policy, created_at }: WorkspaceEntry): string[] {
  return [id, plan.name, `${unknown_policy} after a lost reply`, `since ${created_at}`, plain(name)];
}
