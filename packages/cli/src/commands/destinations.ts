import { invoke } from '@postrider/core';
import { type Destinations, limitDestination, listDestinations, releaseDestination } from '@postrider/core/lanes';
import { type Command, InvalidArgumentError } from 'commander';
import { withMachine } from '../connect/machine.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface LimitOptions {
  readonly connections?: number;
  readonly perMinute?: number;
  readonly off?: boolean;
  readonly json?: boolean;
}

export function addDestinations(program: Command, terminal: Terminal): void {
  const destinations = program
    .command('destinations')
    .description('on the machine itself: destinations and their limits');
  destinations
    .command('list')
    .description('destinations that are limited, closed or held, or that mail waits for')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const found = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), listDestinations, {}),
      );
      show(terminal, options.json, found, () =>
        found.data.length === 0 ? 'nothing is limited, closed, held or waited for' : table(found.data.map(rowOf)),
      );
    });
  destinations
    .command('limit <destination>')
    .description('limit a domain, or a relay as host:port, for every worker within two seconds')
    .option('--connections <count>', 'concurrent mails over all workers', count)
    .option('--per-minute <count>', 'mails per minute', count)
    .option('--off', 'remove the limit')
    .option('--json', 'print JSON')
    .action(async (destination: string, options: LimitOptions) => {
      const { connections, perMinute: messages_per_minute } = options;
      const done = await withMachine(terminal, async (machine) => {
        const ctx = await machine.asWorkspace();
        return options.off
          ? invoke(ctx, releaseDestination, { destination })
          : invoke(ctx, limitDestination, { destination, connections, messages_per_minute });
      });
      show(terminal, options.json, done, () =>
        options.off ? `${done.destination} has no limit` : `${done.destination} is limited`,
      );
    });
}

function rowOf(entry: Destinations['data'][number]): string[] {
  return [
    entry.destination,
    stateOf(entry),
    entry.connections === null ? '' : `${entry.connections} connections`,
    entry.messages_per_minute === null ? '' : `${entry.messages_per_minute} a minute`,
    `${entry.parked} waiting`,
    plain(entry.last_reply ?? (entry.reason === 'limit' ? 'its limit is used up' : '')),
  ];
}

function stateOf({ held_until, hold_id, closed_until }: Destinations['data'][number]): string {
  if (held_until !== null) return `held until ${held_until} (${hold_id})`;
  return closed_until === null ? 'open' : `closed until ${closed_until}`;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
