import { catalogue, readConfig } from '@postrider/core';
import { migrate } from '@postrider/db';
import { bytesIn, leftoverDatabases, removeLeftover } from '@postrider/db/embedded';
import { installQueue } from '@postrider/queue';
import type { Command } from 'commander';
import { withDatabase } from '../connect/machine.ts';
import { foundTable, show, type Terminal } from '../terminal/terminal.ts';

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('on the machine itself: bring the database and its queues up to this release')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const ran = await withDatabase(readConfig(terminal.env), async (url) => {
        const names = await migrate(url);
        await installQueue(url, catalogue);
        return names;
      });
      show(terminal, options.json, { ran }, () =>
        ran.length === 0 ? 'The database is current.' : ran.map((name) => `ran ${name}`).join('\n'),
      );
    });
}

interface LeftoverOptions {
  readonly remove?: boolean;
  readonly json?: boolean;
}

/** Databases that stay when the directory of an installation is deleted, because they had to be put elsewhere. */
export function addDatabases(program: Command, terminal: Terminal): void {
  program
    .command('databases')
    .description('on the machine itself: embedded databases that no data directory refers to')
    .option('--remove', 'delete them; start an installation that was moved once before, so that it is found')
    .option('--json', 'print JSON')
    .action(({ remove = false, json }: LeftoverOptions) => {
      const data = leftoverDatabases().map((one) => ({
        ...one,
        size_bytes: bytesIn(one.directory),
        removed: remove && removeLeftover(one),
      }));
      show(terminal, json, { object: 'list', data }, () =>
        foundTable(
          data.map(({ directory, made_for, size_bytes, removed }) => [
            directory,
            `${Math.round(size_bytes / 1e6)} MB`,
            `made for ${made_for}`,
            removed ? 'removed' : '',
          ]),
        ),
      );
    });
}
