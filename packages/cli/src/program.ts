import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCompletion } from './commands/completion.ts';
import { has_machine } from './machine/has-machine.ts';
import type { Terminal } from './terminal/terminal.ts';

const settings = `
Environment:
  POSTRIDER_URL      Postrider's URL, with or without /v1 (default http://localhost:3000)
  POSTRIDER_API_KEY  the API key for commands over HTTP
  NO_COLOR           output is never colored
  DATABASE_URL, SECRET_KEY, DATA_DIR  the server's values, for local commands
Unset values are read from ~/.config/postrider/config.json, which login writes.

Exit codes:
  0  done
  1  rejected, or the check found a problem
  2  invalid command line
  3  no response, or a temporary rejection: try again`;

type Add = (program: Command, terminal: Terminal) => void;

interface Group {
  readonly description: string;
  /** Whether it needs the machine that runs Postrider, so that the packed command line has no such command. */
  readonly local?: true;
  /** Loaded on demand, because loading all of them takes a second. */
  readonly load: () => Promise<Add>;
}

/** Command groups by their first word. */
export const groups: Readonly<Record<string, Group>> = {
  send: { description: 'send an email', load: async () => (await import('./commands/send.ts')).addSend },
  logs: { description: 'the email log', load: async () => (await import('./commands/logs-tail.ts')).addLogs },
  email: {
    description: 'show, cancel or give up on an email',
    load: async () => (await import('./commands/email-get.ts')).addEmail,
  },
  captures: {
    description: 'captured emails, for tests',
    load: async () => (await import('./commands/captures.ts')).addCaptures,
  },
  keys: { description: "the workspace's API keys", load: async () => (await import('./commands/keys.ts')).addKeys },
  domains: {
    description: 'sending domains',
    load: async () => (await import('./commands/domains.ts')).addDomains,
  },
  suppressions: {
    description: 'suppressed addresses',
    load: async () => (await import('./commands/suppressions.ts')).addSuppressionCommands,
  },
  erase: {
    description: 'erase an address and its email content, and print a receipt that omits the address',
    load: async () => (await import('./commands/suppressions.ts')).addErase,
  },
  import: {
    description: 'import suppressions, domains and webhooks from another provider',
    load: async () => (await import('./commands/import.ts')).addImport,
  },
  webhooks: {
    description: 'webhooks, and tools for developing receivers',
    load: async () => (await import('./commands/webhooks-listen.ts')).addWebhooks,
  },
  login: {
    description: 'read an API key from stdin and store it with the URL for later commands',
    load: async () => (await import('./commands/login.ts')).addLogin,
  },
  operators: {
    description: 'operators of the instance',
    load: async () => (await import('./commands/operators.ts')).addOperators,
  },
  members: {
    description: 'workspace members, for operators',
    load: async () => (await import('./commands/members.ts')).addMembers,
  },
  destinations: {
    description: 'destinations and their limits, for operators',
    load: async () => (await import('./commands/destinations.ts')).addDestinations,
  },
  transports: {
    description: 'transports, and the rules that choose one for each email',
    load: async () => (await import('./commands/transports.ts')).addTransports,
  },
  workspaces: {
    description: 'workspaces, for operators',
    load: async () => (await import('./commands/workspaces.ts')).addWorkspaces,
  },
  plans: {
    description: 'plans and their limits, for operators',
    load: async () => (await import('./commands/plans.ts')).addPlans,
  },
  audit: {
    description: 'the audit log of the workspace or the instance',
    load: async () => (await import('./commands/audit.ts')).addAudit,
  },
  queues: {
    description: 'queues, their jobs and holds, for operators',
    load: async () => (await import('./commands/queues.ts')).addQueues,
  },
  bulk: {
    description: 'bulk operations: preview what an action would process, then run it',
    load: async () => (await import('./commands/bulk.ts')).addBulk,
  },
  status: {
    description: 'whether email is being sent, and what needs attention; exits with 0, 1 or 2',
    load: async () => (await import('./commands/status.ts')).addStatus,
  },
  ...sameLoader(['stats', 'backlog', 'failures'], async () => (await import('./commands/numbers.ts')).addNumbers, {
    stats: 'email outcomes by minute, hour or day',
    backlog: 'pending email by age',
    failures: 'groups of similar failures, most frequent first',
  }),
  ...sameLoader(['workers', 'schedules'], async () => (await import('./commands/workers.ts')).addWorkers, {
    workers: 'worker processes, for operators',
    schedules: 'cron schedules, for operators',
  }),
  migrate: {
    local: true,
    description: 'local: migrate the database and its queues to this release',
    load: async () => (await import('./machine/migrate.ts')).addMigrate,
  },
  'restore-check': {
    local: true,
    description: 'local: after a restore, hold all email and report what was sent since the backup',
    load: async () => (await import('./machine/restore-check.ts')).addRestoreCheck,
  },
  move: {
    local: true,
    description: 'local: copy this instance, such as an embedded one, into your own empty Postgres',
    load: async () => (await import('./machine/move.ts')).addMove,
  },
  databases: {
    local: true,
    description: 'local: list unused embedded databases',
    load: async () => (await import('./machine/databases.ts')).addDatabases,
  },
  doctor: {
    local: true,
    description: 'check this machine, its database and network, the service and the API key',
    load: async () => (await import('./machine/doctor.ts')).addDoctor,
  },
};

function sameLoader<N extends string>(
  names: readonly N[],
  load: Group['load'],
  descriptions: Readonly<Record<N, string>>,
): Record<string, Group> {
  return Object.fromEntries(names.map((name) => [name, { description: descriptions[name], load }]));
}

function listedGroups(): [string, Group][] {
  return Object.entries(groups).filter(([, { local }]) => !local || has_machine);
}

/** Creates the program with the commands of one group, or with the names of all groups if none is given. */
export async function createProgram(terminal: Terminal, words: readonly string[]): Promise<Command> {
  const program = emptyProgram(terminal);
  const group = Object.hasOwn(groups, words[0] ?? '') ? groups[words[0] ?? ''] : undefined;
  if (group) {
    (await group.load())(program, terminal);
    return program;
  }
  // Names are enough for the help and for suggestions after a typo.
  for (const [name, { description }] of listedGroups()) program.command(name).description(description);
  addCompletion(program, terminal, () => createWholeProgram(terminal));
  return program;
}

/** Creates the program with every command and its options. */
export async function createWholeProgram(terminal: Terminal): Promise<Command> {
  const program = emptyProgram(terminal);
  const adders = await Promise.all(listedGroups().map(([, { load }]) => load()));
  for (const add of new Set(adders)) add(program, terminal);
  addCompletion(program, terminal, async () => program);
  return program;
}

function emptyProgram(terminal: Terminal): Command {
  const program = new Command('postrider').description('Send email with Postrider and operate it.');
  program.version(versionOf(), '--version', 'print the version');
  program.option(
    '--output <format>',
    'text or json (json@1 pins the version); default: json if the output is not a terminal',
  );
  program.addHelpText('after', settings);
  // Set before any command is added, because commands inherit these settings.
  program.exitOverride().configureOutput({
    writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
    writeErr: (text) => terminal.note(text.replace(/\n$/, '')),
  });
  return program;
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
