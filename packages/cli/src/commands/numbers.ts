import { invoke } from '@postrider/core';
import { type Backlog, type BacklogRow, backlogDimensions, getBacklog } from '@postrider/core/backlog';
import { type FailureGroups, failureGroups, failureKinds } from '@postrider/core/failures';
import { buckets, isDuration, metrics, type Stats, statDimensions, statSeries } from '@postrider/core/stats';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withMachine } from '../connect/machine.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface RangeOptions {
  readonly since?: string;
  readonly until?: string;
  readonly top?: number;
  readonly json?: boolean;
}

const HOUR_MS = 3_600_000;
const usual = ['accepted', 'delivered', 'deferred', 'bounced', 'failed'];

/** Statistics of the whole instance: outcomes, backlog, failures. */
export function addNumbers(program: Command, terminal: Terminal): void {
  program
    .command('stats')
    .description('on the machine itself: mail outcomes by minute, hour or day')
    .addOption(new Option('--bucket <length>', 'length of a line').choices(buckets).default('hour'))
    .option('--since <time>', 'ISO 8601; a day ago, or an hour where lines are minutes')
    .option('--until <time>', 'ISO 8601; now')
    .addOption(new Option('--by <dimension>', 'one line for each').choices(statDimensions).default('none'))
    .addOption(new Option('--metrics <names...>', 'what to count').choices(metrics).default(usual))
    .option('--top <count>', 'how many keys of the dimension', count)
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { bucket: string; by: string; metrics: string[] }) => {
      const back = options.bucket === 'minute' ? HOUR_MS : 24 * HOUR_MS;
      const found = await withMachine(terminal, async (machine) => {
        const ctx = await machine.asWorkspace();
        return invoke(ctx, statSeries, {
          since: options.since ?? new Date(ctx.clock.now() - back).toISOString(),
          until: options.until,
          bucket: options.bucket,
          group_by: options.by,
          metrics: options.metrics,
          top: options.top,
        });
      });
      show(terminal, options.json, found, () => statLines(found));
    });
  program
    .command('backlog')
    .description('on the machine itself: waiting mail by age')
    .addOption(new Option('--by <dimension>', 'one line for each').choices(backlogDimensions).default('destination'))
    .option('--top <count>', 'how many lines', count)
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { by: string }) => {
      const found = await withMachine(terminal, async (machine) =>
        invoke(await machine.asWorkspace(), getBacklog, { by: options.by, top: options.top }),
      );
      show(terminal, options.json, found, () => backlogLines(found));
    });
  program
    .command('failures')
    .description('on the machine itself: groups of similar failures, most frequent first')
    .addOption(new Option('--kind <kind>', 'what failed').choices(failureKinds).default('smtp'))
    .option('--since <time>', 'ISO 8601; a day ago')
    .option('--until <time>', 'ISO 8601; now')
    .option('--top <count>', 'how many lines', count)
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { kind: string }) => {
      const found = await withMachine(terminal, async (machine) => {
        const ctx = await machine.asWorkspace();
        return invoke(ctx, failureGroups, {
          since: options.since ?? new Date(ctx.clock.now() - 24 * HOUR_MS).toISOString(),
          until: options.until,
          kind: options.kind,
          top: options.top,
        });
      });
      show(terminal, options.json, found, () => failureLines(found));
    });
}

export function statLines({ series, group_by, complete_until }: Stats): string {
  // One series has both the entries without a key and those without a line of their own.
  const rest = series.some(({ key }) => key !== null) ? '(others)' : '(none)';
  const names = series.map(({ metric, key }) => {
    const name = isDuration(metric) ? `${metric} (s)` : metric;
    return group_by === 'none' ? name : `${name} ${key ?? rest}`;
  });
  const times = series[0]?.points.map(({ at }) => at) ?? [];
  const lines = times.map((at, place) => [at, ...series.map(({ points }) => String(points[place]?.value ?? ''))]);
  const shown = series.length > 0 ? table([['', ...names.map(plain)], ...lines]) : 'nothing was counted in that time';
  return `${shown}\nCounted up to ${complete_until}.`;
}

function backlogLines({ dimension, bucket_upper_minutes, rows, total }: Backlog): string {
  const ends = bucket_upper_minutes.map((end, index) =>
    end === null ? `${bucket_upper_minutes[index - 1] ?? 0}+` : `<${end}`,
  );
  const line = (name: string, row: BacklogRow) => [
    plain(name),
    String(row.total),
    ...row.counts.map(String),
    plain([row.closed_until && `closed until ${row.closed_until}`, row.last_reply].filter(Boolean).join(', ')),
  ];
  const head = [dimension, 'waiting', ...ends.map((end) => `${end} min`), ''];
  return table([head, line('in all', total), ...rows.map((row) => line(row.key, row))]);
}

function failureLines({ data }: FailureGroups): string {
  if (data.length === 0) return 'No failures.';
  return table(
    data.map((group) => [
      String(group.count),
      `last ${group.last_seen_at}`,
      plain(group.destinations.join(' ')),
      plain(group.sample),
    ]),
  );
}

function count(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
