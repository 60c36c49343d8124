import { catalogue, readConfig } from '@postrider/core';
import { migrate } from '@postrider/db';
import { installQueue } from '@postrider/queue';
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
        const names = await migrate(url);
        await installQueue(url, catalogue);
        return names;
      });
      show(terminal, options.json, { ran }, () =>
        ran.length === 0 ? 'The database is up to date.' : ran.map((name) => `ran ${name}`).join('\n'),
      );
    });
}
