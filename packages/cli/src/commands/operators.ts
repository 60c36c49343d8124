import type { OperatorEntry } from '@postrider/core/people';
import { program_name } from '@postrider/core/program';
import type { Command } from 'commander';
import { all } from '../connect/client.ts';
import { entriesOf, graphql, listQuery, mutation, select } from '../connect/graphql.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { entryLines, show, type Terminal, table } from '../terminal/terminal.ts';

interface Options {
  readonly password?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addOperators(program: Command, terminal: Terminal): void {
  const operators = program.command('operators').description('operators of the instance');
  operators
    .command('list')
    .description('list operators')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const data = await allOperators(terminal);
      show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
        table(
          data.map(({ id, email, second_factor, created_at }) => [
            ...[id, email, second_factor ? 'second factor' : 'password only', `since ${created_at}`],
          ]),
        ),
      );
    });
  operators
    .command('add <email>')
    .description('add an operator; new users get a login link, printed once')
    .option('--password', 'create a password instead of a link')
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const input = { email, entry: options.password ? 'PASSWORD' : 'LOGIN_LINK' };
      const entry = await graphql(terminal, operatorAdd, { input });
      const added = { ...operatorOf(entry.operator), ...entry.entry };
      show(terminal, options.json, added, () =>
        [...entryLines(added), `Added ${added.email} as an operator`].join('\n'),
      );
    });
  operators
    .command('remove <email>')
    .description('remove an operator and end their sessions')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const operator = (await allOperators(terminal)).find((one) => one.email === email.toLowerCase());
      if (!operator) throw unknownOperator(email);
      const preview = `${operator.email} would no longer be an operator, and their sessions would end.`;
      await confirm(terminal, { preview, count: 1, yes: options.yes });
      await graphql(terminal, operatorRemove, { input: { userId: operator.id } });
      const removed = { ...operator, deleted: true };
      show(terminal, options.json, removed, () => `Removed ${email} as an operator`);
    });
  operators
    .command('login-link [email]')
    .description('local: print a login link, valid for 15 minutes, for an operator (default: the only one)')
    .option('--json', 'print JSON')
    .action(async (email: string | undefined, options: Options) => {
      // Loaded on demand, because it takes half a second.
      const { newLoginLink } = await import('../machine/credentials.ts');
      const link = await newLoginLink(terminal, email);
      show(
        terminal,
        options.json,
        link,
        () => `${link.url}\nSigns in ${link.email} once. Expires at ${link.expires_at}.`,
      );
    });
  operators
    .command('reset-password <email>')
    .description('local: set a new password, print it once, and remove the user’s second factor and sessions')
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const { newPassword } = await import('../machine/credentials.ts');
      const { password, keys } = await newPassword(terminal, email);
      show(terminal, options.json, { email, password, keys }, () =>
        [`${password}\nNew password for ${email}; shown once`, ...keyLines(keys)].join('\n'),
      );
    });
  operators
    .command('reset-sign-in <email>')
    .description('local: remove a user’s password, second factor and sessions, and print a login link')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const preview = `${email} would lose their password, second factor, recovery codes and sessions.`;
      await confirm(terminal, { preview, count: 1, yes: options.yes });
      const { resetSignInOf } = await import('../machine/credentials.ts');
      const { url, expires_at, keys } = await resetSignInOf(terminal, email);
      show(terminal, options.json, { email, url, expires_at, keys }, () =>
        [`${url}\nSigns in ${email} once. Expires at ${expires_at}.`, ...keyLines(keys)].join('\n'),
      );
    });
}

const OPERATOR = 'userId email name secondFactor createdAt';

interface OperatorPayload {
  readonly operator: OperatorEntry;
  readonly entry: Parameters<typeof entryLines>[0];
}

const operators = listQuery('operators', {}, select<OperatorEntry>(OPERATOR));
const operatorAdd = mutation(
  'operatorAdd',
  'OperatorAddInput',
  select<OperatorPayload>(
    `... on OperatorPayload { operator { ${OPERATOR} } entry { password loginUrl loginUrlExpiresAt } }`,
  ),
);
const operatorRemove = mutation('operatorRemove', 'OperatorRemoveInput', select('... on DeletePayload { deletedId }'));

/** Lists keys that outlive a replaced credential. */
function keyLines(keys: readonly { readonly id: string; readonly name: string; readonly workspace_id: string }[]) {
  if (keys.length === 0) return [];
  const rows = keys.map(({ id, name, workspace_id }) => [id, name, workspace_id]);
  return ['API keys that they created, which still work. Revoke those that you do not trust:', table(rows)];
}

function operatorOf(operator: OperatorEntry): OperatorEntry {
  return { ...operator, object: 'operator' };
}

async function allOperators(terminal: Terminal): Promise<OperatorEntry[]> {
  return (await all(entriesOf(terminal, operators, {}))).map(operatorOf);
}

function unknownOperator(email: string): Problem {
  return new Problem({
    reason: 'user_not_found',
    message: `No operator with the email address ${email}.`,
    advice: `Run \`${program_name} operators list\` to see operators.`,
  });
}
