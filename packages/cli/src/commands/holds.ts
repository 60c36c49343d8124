import type { HoldEntry } from '@postrider/core/holds';
import { program_name } from '@postrider/core/program';
import { type Command, InvalidArgumentError } from 'commander';
import { holdsOf } from '../connect/hold-calls.ts';
import type { Holds } from '../connect/holds.ts';
import { holdScopes } from '../connect/values.ts';
import { nowMs } from '../terminal/clock.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

interface HoldOptions {
  readonly reason?: string;
  readonly for?: number;
  readonly rate?: number;
  readonly workspace?: string;
  readonly local?: boolean;
  readonly json?: boolean;
}

interface ReleaseOptions {
  readonly atOnce?: boolean;
  readonly rate?: number;
  readonly local?: boolean;
  readonly json?: boolean;
}

const LOCAL = ['--local', 'run on the server without an API key, connecting directly to the database'] as const;

export function addHolds(queues: Command, terminal: Terminal): void {
  queues
    .command('hold <scope> <value>')
    .description(`stop sending on every worker within two seconds; the scope is one of ${holdScopes.join(', ')}`)
    .option('--reason <text>', 'reason (required), shown wherever email is held')
    .option('--for <time>', 'duration, such as 30m, 2h or 7d (default 24h, at most 30d)', span)
    .option('--rate <count>', 'emails per minute after the hold ends (default: no limit)', count)
    .option('--workspace <id>', 'workspace that the domain is in, if several workspaces have the domain')
    .option(...LOCAL)
    .option('--json', 'print JSON')
    .action(async (scope: string, value: string, options: HoldOptions) => {
      if (!holdScopes.some((known) => known === scope)) throw noScope(scope);
      if (options.reason === undefined) throw noReason();
      const holds = await holdsOf(terminal, options.local);
      const hold = await holds.create({
        scope,
        value,
        reason: options.reason,
        expires_at: options.for === undefined ? undefined : new Date(nowMs() + options.for).toISOString(),
        resume_rate_per_minute: options.rate,
        workspace_id: options.workspace,
      });
      show(terminal, options.json, hold, () => `${hold.id}  ${nameOf(hold)} is held until ${endOf(hold)}`);
    });
  queues
    .command('release <target...>')
    .description('release a hold by its ID, or by scope and value')
    .option('--rate <count>', "emails per minute after the release (overrides the hold's rate)", count)
    .option('--at-once', 'also remove the rate limit, even if the hold has already ended')
    .option(...LOCAL)
    .option('--json', 'print JSON')
    .action(async (target: string[], options: ReleaseOptions) => {
      const holds = await holdsOf(terminal, options.local);
      const at_once = options.atOnce === true;
      const id = await idOf(holds, target, at_once);
      const released = await holds.release({ id, resume_rate_per_minute: options.rate, at_once });
      show(terminal, options.json, released, () => `${released.id}  ${nameOf(released)} is ${stateOf(released)}`);
    });
  queues
    .command('holds')
    .description('list holds with their creator and reason')
    .option('--all', 'include ended holds')
    .option(...LOCAL)
    .option('--json', 'print JSON')
    .action(async (options: { all?: boolean; local?: boolean; json?: boolean }) => {
      const data = await (await holdsOf(terminal, options.local)).list(options.all !== true);
      show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
        data.length === 0 ? 'No active holds.' : table(data.map(rowOf)),
      );
    });
}

function noScope(scope: string): Problem {
  const message = `${scope} is not a valid scope.`;
  return new Problem({ reason: 'invalid_type', message, advice: `Use one of ${holdScopes.join(', ')}.` });
}

function noReason(): Problem {
  const advice = 'Add --reason <text>. It is shown wherever email is held.';
  return new Problem({ reason: 'missing_option', message: 'A hold needs a reason.', advice });
}

async function idOf(holds: Holds, [first = '', value]: readonly string[], is_ended: boolean): Promise<string> {
  if (first.startsWith('hld_')) return first;
  const match = (await holds.list(!is_ended)).find(
    (hold) => hold.status !== 'ended' && hold.scope === first && hold.value === (value ?? '').toLowerCase(),
  );
  if (match) return match.id;
  throw new Problem({
    reason: 'hold_not_found',
    message: `No hold matches ${[first, value].filter(Boolean).join(' ')}.`,
    advice: `Run ${program_name} queues holds to list holds, then use an ID, or a scope and value.`,
  });
}

function nameOf({ scope, value }: HoldEntry): string {
  return `${scope.replaceAll('_', ' ')} ${value}`;
}

function stateOf(hold: HoldEntry): string {
  if (hold.status === 'active') return `held until ${endOf(hold)}`;
  if (hold.status === 'ended') return 'released';
  return `resuming at ${hold.resume_rate_per_minute} per minute`;
}

function rowOf(hold: HoldEntry): string[] {
  return [
    hold.id,
    nameOf(hold),
    stateOf(hold),
    `${hold.affected} held`,
    plain(hold.created_by.name),
    plain(hold.reason),
  ];
}

function span(text: string): number {
  const [, number, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('Use a number followed by m, h or d, such as 2h.');
  return Number(number) * (UNITS[unit] ?? 0);
}

function count(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return Number(text);
}

function endOf({ expires_at }: Pick<HoldEntry, 'expires_at'>): string {
  return expires_at ?? 'it is released';
}
