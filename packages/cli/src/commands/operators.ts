import { invoke } from '@postrider/core';
import {
  addOperator,
  createLoginLink,
  listOperators,
  type OperatorEntry,
  removeOperator,
  resetPassword,
} from '@postrider/core/people';
import type { Command } from 'commander';
import { everyPage, type Machine, withMachine } from '../connect/machine.ts';
import { Problem } from '../terminal/problem.ts';
import { entryLines, show, type Terminal, table } from '../terminal/terminal.ts';

interface Options {
  readonly password?: boolean;
  readonly json?: boolean;
}

export function addOperators(program: Command, terminal: Terminal): void {
  const operators = program
    .command('operators')
    .description('on the machine itself: people who run the instance, in every workspace');
  operators
    .command('list')
    .description('every operator')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const data = await withMachine(terminal, allOperators);
      show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
        table(data.map(({ id, email, created_at }) => [id, email, `since ${created_at}`])),
      );
    });
  operators
    .command('add <email>')
    .description('add an operator; a new person gets a login link, printed once')
    .option('--password', 'a password instead of a link')
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const entry = options.password ? 'password' : 'login_link';
      const added = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), addOperator, { email, entry }),
      );
      show(terminal, options.json, added, () => [...entryLines(added), `${added.email} is an operator`].join('\n'));
    });
  operators
    .command('remove <email>')
    .description('remove an operator, and end their sessions')
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const removed = await withMachine(terminal, async (machine) => {
        const known = await allOperators(machine);
        const operator = known.find((one) => one.email === email.toLowerCase());
        if (!operator) throw unknownOperator(email);
        return invoke(await machine.asWorkspace(), removeOperator, { user_id: operator.id });
      });
      show(terminal, options.json, removed, () => `${email} is no longer an operator`);
    });
  operators
    .command('login-link [email]')
    .description('print a one-time login link, valid for 15 minutes (default: the only operator)')
    .option('--json', 'print JSON')
    .action(async (email: string | undefined, options: Options) => {
      const link = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), createLoginLink, { email: email ?? (await onlyOperator(machine)) }),
      );
      show(terminal, options.json, link, () => `${link.url}\nsigns ${link.email} in once, until ${link.expires_at}`);
    });
  operators
    .command('reset-password <email>')
    .description('give a person a new password, printed once, and end their sessions')
    .option('--json', 'print JSON')
    .action(async (email: string, options: Options) => {
      const { password } = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), resetPassword, { email }),
      );
      show(terminal, options.json, { email, password }, () => `${password}\nnew password of ${email}; shown this once`);
    });
}

async function allOperators(machine: Machine): Promise<OperatorEntry[]> {
  const ctx = await machine.asWorkspace();
  return everyPage((page) => invoke(ctx, listOperators, page));
}

async function onlyOperator(machine: Machine): Promise<string> {
  const [first, ...more] = await allOperators(machine);
  if (first && more.length === 0) return first.email;
  throw new Problem({
    reason: 'missing_option',
    message: `There are ${first ? more.length + 1 : 0} operators.`,
    advice: 'Name the email address of the operator.',
  });
}

function unknownOperator(email: string): Problem {
  return new Problem({
    reason: 'user_not_found',
    message: `No operator has the email address ${email}.`,
    advice: '`npx postrider operators list` shows them.',
  });
}
