import type { Destinations } from '@postrider/core/lanes';
import { type Command, InvalidArgumentError } from 'commander';
import { graphql, mutation, query, select } from '../connect/graphql.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface LimitOptions {
  readonly connections?: number;
  readonly perMinute?: number;
  readonly off?: boolean;
  readonly json?: boolean;
}

interface DestinationRow extends Omit<Destinations['data'][number], 'reason'> {
  readonly reason: string | null;
}

interface LimitPayload {
  readonly destination: string;
}

const listed = query(
  'destinations',
  {},
  select<
    readonly DestinationRow[]
  >(`destination: name transportId transportName connections messagesPerMinute closedUntil reason: closedReason lastReply
    heldUntil holdId parked`),
);
const destinationLimit = mutation(
  'destinationLimit',
  'DestinationLimitInput',
  select<LimitPayload>('... on DestinationPayload { destination: name connections messagesPerMinute }'),
);
const destinationRelease = mutation(
  'destinationRelease',
  'DestinationInput',
  select<LimitPayload>('... on DestinationReleasePayload { destination: name released }'),
);

export function addDestinations(program: Command, terminal: Terminal): void {
  const destinations = program.command('destinations').description('destinations and their limits, for operators');
  destinations
    .command('list')
    .description('list destinations that are limited, closed or held, or have pending email')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const data = (await graphql(terminal, listed, {})).map((row) => ({
        ...row,
        reason: row.reason?.toLowerCase() ?? null,
      }));
      show(terminal, options.json, { object: 'list', data }, () =>
        data.length === 0
          ? 'No destinations are limited, closed or held, and none have pending email.'
          : table(data.map(rowOf)),
      );
    });
  destinations
    .command('limit <destination>')
    .description(
      'limit sending to a domain, or to a relay given as host:port, effective on every worker within two seconds',
    )
    .option('--connections <count>', 'maximum concurrent emails across all workers', count)
    .option('--per-minute <count>', 'maximum emails per minute', count)
    .option('--off', 'remove the limit')
    .option('--json', 'print JSON')
    .action(async (destination: string, options: LimitOptions) => {
      const { connections, perMinute: messagesPerMinute } = options;
      const done = options.off
        ? await graphql(terminal, destinationRelease, { input: { destination } })
        : await graphql(terminal, destinationLimit, { input: { destination, connections, messagesPerMinute } });
      show(terminal, options.json, done, () =>
        options.off ? `${done.destination} has no limit` : `${done.destination} is limited`,
      );
    });
}

function rowOf(entry: DestinationRow): string[] {
  return [
    entry.transport_id === null
      ? entry.destination
      : `${entry.destination} via ${plain(entry.transport_name ?? entry.transport_id)}`,
    stateOf(entry),
    entry.connections === null ? '' : `${entry.connections} connections`,
    entry.messages_per_minute === null ? '' : `${entry.messages_per_minute} a minute`,
    `${entry.parked} waiting`,
    plain(entry.last_reply ?? (entry.reason === 'limit' || entry.reason === 'transport_limit' ? 'limit reached' : '')),
  ];
}

function stateOf({ held_until, hold_id, closed_until }: DestinationRow): string {
  if (held_until !== null) return `held until ${held_until} (${hold_id})`;
  return closed_until === null ? 'open' : `closed until ${closed_until}`;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return Number(text);
}
