import { Command } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addBulk } from './commands/bulk.ts';
import { addDestinations } from './commands/destinations.ts';
import { addDoctor } from './commands/doctor.ts';
import { addDomains } from './commands/domains.ts';
import { addEmail } from './commands/email-get.ts';
import { addKeys } from './commands/keys.ts';
import { addLogs } from './commands/logs-tail.ts';
import { addMembers } from './commands/members.ts';
import { addMigrate } from './commands/migrate.ts';
import { addNumbers } from './commands/numbers.ts';
import { addOperators } from './commands/operators.ts';
import { addPlans } from './commands/plans.ts';
import { addQueues } from './commands/queues.ts';
import { addSend } from './commands/send.ts';
import { addSuppressionCommands } from './commands/suppressions.ts';
import { addWebhooks } from './commands/webhooks-listen.ts';
import { addWorkers } from './commands/workers.ts';
import { addWorkspaces } from './commands/workspaces.ts';
import type { Terminal } from './terminal/terminal.ts';

const settings = `
Environment:
  POSTRIDER_URL      where Postrider answers (default http://localhost:3000)
  POSTRIDER_API_KEY  the key that commands over HTTP use
  DATABASE_URL, SECRET_KEY, DATA_DIR  as the server has them, for commands on the machine itself`;

/** The whole command line. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('postrider').description('Send mail with Postrider, and operate it.');
  program.addHelpText('after', settings);
  // Set before commands are added, because they inherit it.
  program.exitOverride().configureOutput({
    writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
    writeErr: (text) => terminal.note(text.replace(/\n$/, '')),
  });
  addSend(program, terminal);
  addLogs(program, terminal);
  addEmail(program, terminal);
  addKeys(program, terminal);
  addDomains(program, terminal);
  addSuppressionCommands(program, terminal);
  addWebhooks(program, terminal);
  addOperators(program, terminal);
  addMembers(program, terminal);
  addDestinations(program, terminal);
  addWorkspaces(program, terminal);
  addPlans(program, terminal);
  addAudit(program, terminal);
  addQueues(program, terminal);
  addBulk(program, terminal);
  addNumbers(program, terminal);
  addWorkers(program, terminal);
  addMigrate(program, terminal);
  addDoctor(program, terminal);
  return program;
}
