import { catalogue, readConfig } from '@postrider/core';
import { connect, mayMigrate, migrate, pendingMigrations } from '@postrider/db';
import { installQueue, missingQueues } from '@postrider/queue';
import type { Command } from 'commander';
import { show, type Terminal } from '../terminal/terminal.ts';
import { withDatabase } from './machine.ts';

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('local: migrate the database and its queues to this release')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const ran = await withDatabase(readConfig(terminal.env), async (url) => {
        // The units run this at every start, often as a database role that owns nothing.
        if (await leavesNothingToDo(url)) return [];
        const names = await migrate(url);
        await installQueue(url, catalogue);
        return names;
      });
      show(terminal, options.json, { ran }, () =>
        ran.length === 0 ? 'The database is up to date.' : ran.map((name) => `ran ${name}`).join('\n'),
      );
    });
}

/** Whether this role may not migrate, and has nothing to migrate. */
async function leavesNothingToDo(url: string): Promise<boolean> {
  const sql = connect(url, { max: 1, application_name: 'postrider-migrate' });
  try {
    if (await mayMigrate(sql)) return false;
    return (await pendingMigrations(sql)).length + (await missingQueues(sql, catalogue)).length === 0;
  } finally {
    await sql.end({ timeout: 2 });
  }
}
