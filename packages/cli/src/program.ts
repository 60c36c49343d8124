import { Command } from 'commander';
import { addAudit } from './audit.ts';
import { addBulk } from './bulk.ts';
import { addDestinations } from './destinations.ts';
import { addDoctor } from './doctor.ts';
import { addDomains } from './domains.ts';
import { addEmail } from './email-get.ts';
import { addKeys } from './keys.ts';
import { addLogs } from './logs-tail.ts';
import { addMembers } from './members.ts';
import { addMigrate } from './migrate.ts';
import { addNumbers } from './numbers.ts';
import { addOperators } from './operators.ts';
import { addPlans } from './plans.ts';
import { addQueues } from './queues.ts';
import { addSend } from './send.ts';
import { addSuppressionCommands } from './suppressions.ts';
import type { Terminal } from './terminal.ts';
import { addWebhooks } from './webhooks-listen.ts';
import { addWorkers } from './workers.ts';
import { addWorkspaces } from './workspaces.ts';

const settings = `
Environment:
  POSTRIDER_URL      where Postrider answers (default http://localhost:3000)
  POSTRIDER_API_KEY  the key that commands over HTTP use
  DATABASE_URL, SECRET_KEY, DATA_DIR  as the server has them, for commands on the machine itself`;

/** The whole command line, a command to a line. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('postrider').description('Send mail with Postrider and look after it.');
  program.addHelpText('after', settings);
  // Before the commands are added, which take both over.
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
