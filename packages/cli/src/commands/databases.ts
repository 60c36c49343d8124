import { bytesIn, leftoverDatabases, removeLeftover } from '@postrider/db/embedded';
import type { Command } from 'commander';
import { foundTable, show, type Terminal } from '../terminal/terminal.ts';

interface Options {
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
    .action(({ remove = false, json }: Options) => {
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
