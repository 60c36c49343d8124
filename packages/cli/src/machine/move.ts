import { catalogue, readConfig } from '@postrider/core';
import { migrate } from '@postrider/db';
import { MoveError, moveData } from '@postrider/db/move';
import { installedTables, installQueue } from '@postrider/queue';
import type { Command } from 'commander';
import { Problem } from '../terminal/problem.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';
import { isInstalledHere, notInstalled, withDatabase } from './machine.ts';

interface Options {
  readonly to: string;
  readonly json?: boolean;
}

export function addMove(program: Command, terminal: Terminal): void {
  program
    .command('move')
    .description('local: copy this instance, such as an embedded one, into your own empty Postgres')
    .requiredOption('--to <url>', 'URL of the empty database, whose owner the role must be')
    .option('--json', 'print JSON')
    .action((options: Options) => run(terminal, options));
}

async function run(terminal: Terminal, { to, json }: Options): Promise<void> {
  const config = readConfig(terminal.env);
  if (!isInstalledHere(config)) throw notInstalled(config);
  const moved = await withDatabase(config, async (from) => {
    try {
      // Both are brought to this release first: a copy keeps columns apart by their names.
      for (const url of [from, to]) {
        await migrate(url);
        await installQueue(url, catalogue);
      }
      return await moveData(from, to, installedTables, (name) => terminal.note(`copying ${name}`));
    } catch (error) {
      if (!(error instanceof MoveError)) throw error;
      throw new Problem({ reason: 'not_moved', message: error.message, advice: 'No data was copied.' });
    }
  });
  const key = config.SECRET_KEY ? 'the same SECRET_KEY' : `SECRET_KEY from ${config.DATA_DIR}/secret-key`;
  show(terminal, json, { tables: moved }, () =>
    [
      table(moved.filter(({ rows }) => rows > 0).map(({ name, rows, hash }) => [name, String(rows), hash])),
      '',
      `Every table is equal in both databases. Start Postrider with DATABASE_URL set to the new one, and ${key}.`,
      'The data that you moved from is still there. Do not start it again: it would send its scheduled email too.',
    ].join('\n'),
  );
}
