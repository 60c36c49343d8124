import { resetPassword } from '@postrider/core/people';
import type { Command } from 'commander';
import { withMachine } from './machine.ts';
import { Problem } from './problem.ts';
import { show, type Terminal } from './terminal.ts';

export function addOperators(program: Command, terminal: Terminal): void {
  program
    .command('operators')
    .description('people who may sign in')
    .command('reset-password <email>')
    .description('on the machine itself: give an operator a new password, printed once')
    .option('--json', 'print JSON')
    .action(async (email: string, options: { json?: boolean }) => {
      const password = await withMachine(terminal, (machine) => resetPassword(machine, email));
      if (password === null) {
        throw new Problem({
          reason: 'operator_not_found',
          message: `No operator has the e-mail address ${email}.`,
          advice: 'Write it as the first start printed it, or as ADMIN_EMAIL said it.',
        });
      }
      show(terminal, options.json, { email, password }, () => `${password}\nnew password of ${email}; shown this once`);
    });
}
