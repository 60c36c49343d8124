import { resolve } from 'node:path';
import { program_name } from '@postrider/core/program';
import { bytesIn, leftoverDatabases, removeLeftover } from '@postrider/db/embedded';
import type { Command } from 'commander';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { foundTable, show, type Terminal } from '../terminal/terminal.ts';

interface DatabaseOptions {
  readonly remove?: string;
  readonly deleted?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Adds the `databases` command, which lists and removes embedded databases that remain after their installation's
 * directory was deleted.
 */
export function addDatabases(program: Command, terminal: Terminal): void {
  program
    .command('databases')
    .description('local: list unused embedded databases')
    .option('--remove <directory>', 'delete this database; if the installation was moved, start it there once first')
    .option('--deleted', 'with --remove: confirm that the parent of the data directory was deleted too')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async ({ remove, deleted = false, yes, json }: DatabaseOptions) => {
      const leftovers = leftoverDatabases().map((one) => ({ ...one, size_bytes: bytesIn(one.directory) }));
      const removed = remove === undefined ? null : resolve(remove);
      if (removed !== null) {
        const known = leftovers.find(({ directory }) => directory === removed);
        const size = known ? ` (${Math.round(known.size_bytes / 1e6)} MB)` : '';
        if (known) await confirm(terminal, { preview: `${removed}${size} would be deleted.`, count: 1, yes });
        removeOne(removed, deleted);
      }
      const data = leftovers.map((one) => ({ ...one, removed: one.directory === removed }));
      show(terminal, json, { object: 'list', data }, () =>
        foundTable(
          data.map((one) => [
            one.directory,
            `${Math.round(one.size_bytes / 1e6)} MB`,
            `created for ${one.made_for}`,
            one.removed ? 'removed' : '',
          ]),
        ),
      );
    });
}

function removeOne(directory: string, deleted: boolean): void {
  const removal = removeLeftover(directory, deleted);
  if (removal === 'not_left_over') {
    throw new Problem({
      reason: removal,
      message: `${directory} is not an unused database.`,
      advice: `Run \`${program_name} databases\` to list them.`,
    });
  }
  if (removal === 'folder_missing') {
    throw new Problem({
      reason: removal,
      message: `The data directory of ${directory} and its parent directory are missing. Their volume may not be mounted.`,
      advice: 'Mount the volume and try again. If the directories were deleted, repeat the command with --deleted.',
    });
  }
}
