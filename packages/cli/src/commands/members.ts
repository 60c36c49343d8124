import { invoke } from '@postrider/core';
import {
  inviteMember,
  listMembers,
  type MemberEntry,
  removeMember,
  setMemberRole,
  workspaceRoles,
} from '@postrider/core/people';
import type { Command } from 'commander';
import { everyPage, type Machine, withMachine } from '../connect/machine.ts';
import { Problem } from '../terminal/problem.ts';
import { entryLines, show, type Terminal, table } from '../terminal/terminal.ts';

interface Options {
  readonly workspace?: string;
  readonly role?: string;
  readonly password?: boolean;
  readonly json?: boolean;
}

const roles = workspaceRoles.join(', ');

export function addMembers(program: Command, terminal: Terminal): void {
  const members = program.command('members').description('on the machine itself: members of a workspace');
  const command = (name: string, description: string) =>
    members
      .command(name)
      .description(description)
      .option('--workspace <id>', 'another workspace than the first one')
      .option('--json', 'print JSON');
  command('list', 'every member, with the role').action(async (options: Options) => {
    const data = await withMachine(terminal, (machine) => allMembers(machine, options));
    show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
      table(data.map(({ id, role, email, created_at }) => [id, role, email, `since ${created_at}`])),
    );
  });
  command('add <email>', 'add a member; a new person gets a login link, printed once')
    .requiredOption('--role <role>', `one of ${roles}`)
    .option('--password', 'a password instead of a link')
    .action(async (email: string, options: Options) => {
      const entry = options.password ? 'password' : 'login_link';
      const added = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(options.workspace), inviteMember, { email, role: options.role, entry }),
      );
      show(terminal, options.json, added, () =>
        [...entryLines(added), `${added.email} is ${added.role} of ${added.workspace_id}`].join('\n'),
      );
    });
  command('set-role <email> <role>', `change what a member may do (${roles}), and end their sessions`).action(
    async (email: string, role: string, options: Options) => {
      const changed = await withMachine(terminal, async (machine) => {
        const { id: user_id } = await memberOf(machine, email, options);
        return invoke(await machine.asWorkspace(options.workspace), setMemberRole, { user_id, role });
      });
      show(terminal, options.json, changed, () => `${changed.email} is ${changed.role} of ${changed.workspace_id}`);
    },
  );
  command('remove <email>', 'end a membership, and the sessions of the person').action(
    async (email: string, options: Options) => {
      const removed = await withMachine(terminal, async (machine) => {
        const { id: user_id } = await memberOf(machine, email, options);
        return invoke(await machine.asWorkspace(options.workspace), removeMember, { user_id });
      });
      show(terminal, options.json, removed, () => `${email} is removed from ${removed.workspace_id}`);
    },
  );
}

async function allMembers(machine: Machine, { workspace }: Options): Promise<MemberEntry[]> {
  const ctx = await machine.asWorkspace(workspace);
  return everyPage((page) => invoke(ctx, listMembers, page));
}

async function memberOf(machine: Machine, email: string, options: Options): Promise<MemberEntry> {
  const member = (await allMembers(machine, options)).find((one) => one.email === email.toLowerCase());
  if (member) return member;
  throw new Problem({
    reason: 'member_not_found',
    message: `No member has the email address ${email}.`,
    advice: '`npx postrider members list` shows them.',
  });
}
