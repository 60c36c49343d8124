import type { MemberEntry } from '@postrider/core/people';
import { program_name } from '@postrider/core/program';
import { Argument, type Command, Option } from 'commander';
import { all } from '../connect/client.ts';
import { entriesOf, enumValue, graphql, listQuery, mutation, select } from '../connect/graphql.ts';
import { member_roles } from '../connect/values.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { entryLines, show, type Terminal, table } from '../terminal/terminal.ts';

interface Options {
  readonly workspace?: string;
  readonly role?: string;
  readonly password?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addMembers(program: Command, terminal: Terminal): void {
  const members = program.command('members').description('workspace members, for operators');
  const command = (name: string, description: string) =>
    members
      .command(name)
      .description(description)
      .option('--workspace <id>', "workspace to use instead of the key's own")
      .option('--json', 'print JSON');
  command('list', 'list members and their roles').action(async (options: Options) => {
    const data = await allMembers(terminal, options);
    show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
      table(
        data.map(({ id, role, email, second_factor, created_at }) => [
          ...[id, role, email, second_factor ? 'second factor' : 'password only', `since ${created_at}`],
        ]),
      ),
    );
  });
  command('add <email>', 'add a member; new users get a login link, printed once')
    .addOption(new Option('--role <role>', 'role').choices(member_roles).makeOptionMandatory())
    .option('--password', 'create a password instead of a link')
    .action(async (email: string, options: Options) => {
      const entry = options.password ? 'PASSWORD' : 'LOGIN_LINK';
      const input = { email, role: enumValue(options.role), entry, workspaceId: options.workspace };
      const invitation = await graphql(terminal, memberInvite, { input });
      const added = { ...memberEntry(invitation.member), ...invitation.entry };
      show(terminal, options.json, added, () =>
        [...entryLines(added), `Added ${added.email} to ${added.workspace_id} as ${added.role}`].join('\n'),
      );
    });
  command('set-role <email>', 'change a member’s role and end their sessions')
    .addArgument(new Argument('<role>', 'role').choices(member_roles))
    .action(async (email: string, role: string, options: Options) => {
      const { id: userId } = await memberOf(terminal, email, options);
      const input = { userId, role: enumValue(role), workspaceId: options.workspace };
      const entry = await graphql(terminal, memberSetRole, { input });
      const changed = memberEntry(entry.member);
      show(
        terminal,
        options.json,
        changed,
        () => `Changed ${changed.email} to ${changed.role} in ${changed.workspace_id}`,
      );
    });
  command('remove <email>', 'remove a member and end their sessions')
    .option(...yesOption)
    .action(async (email: string, options: Options) => {
      const member = await memberOf(terminal, email, options);
      const preview = `${member.email} (${member.role}) would be removed from ${member.workspace_id}.`;
      await confirm(terminal, { preview, count: 1, yes: options.yes });
      const input = { userId: member.id, workspaceId: options.workspace };
      await graphql(terminal, memberRemove, { input });
      const removed = { ...member, deleted: true };
      show(terminal, options.json, removed, () => `Removed ${email} from ${removed.workspace_id}`);
    });
}

const MEMBER = 'userId workspaceId email name role operator secondFactor createdAt';

interface MemberPayload {
  readonly member: MemberEntry;
  readonly entry: Parameters<typeof entryLines>[0];
}

const CHANGED = select<MemberPayload>(
  `... on MemberPayload { member { ${MEMBER} } entry { password loginUrl loginUrlExpiresAt } }`,
);
const members = listQuery('members', { workspaceId: 'ID' }, select<MemberEntry>(MEMBER));
const memberInvite = mutation('memberInvite', 'MemberInviteInput', CHANGED);
const memberSetRole = mutation('memberSetRole', 'MemberSetRoleInput', CHANGED);
const memberRemove = mutation('memberRemove', 'MemberRemoveInput', select('... on DeletePayload { deletedId }'));

function memberEntry(member: MemberEntry): MemberEntry {
  return { ...member, object: 'member' };
}

async function allMembers(terminal: Terminal, { workspace }: Options): Promise<MemberEntry[]> {
  const entries = await all(entriesOf(terminal, members, { workspaceId: workspace }));
  return entries.map(memberEntry);
}

async function memberOf(terminal: Terminal, email: string, options: Options): Promise<MemberEntry> {
  const member = (await allMembers(terminal, options)).find((one) => one.email === email.toLowerCase());
  if (member) return member;
  throw new Problem({
    reason: 'member_not_found',
    message: `No member with the email address ${email}.`,
    advice: `Run \`${program_name} members list\` to see members.`,
  });
}
