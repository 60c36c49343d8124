import type { Backlog, BacklogRow } from '@postrider/core/backlog';
import type { FailureGroup } from '@postrider/core/failures';
import type { Stats } from '@postrider/core/stats';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { enumValue, graphql, query, select } from '../connect/graphql.ts';
import { backlog_dimensions, bucket_lengths, failure_kinds, stat_dimensions, stat_metrics } from '../connect/values.ts';
import { nowMs } from '../terminal/clock.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface RangeOptions {
  readonly since?: string;
  readonly until?: string;
  readonly top?: number;
  readonly reach?: string;
  readonly json?: boolean;
}

const HOUR_MS = 3_600_000;
const default_metrics = ['accepted', 'delivered', 'captured', 'deferred', 'bounced', 'failed'];

const REACH = [
  '--reach <side>',
  'workspace, or instance for operators (default: workspace for admins, otherwise instance)',
] as const;
const ROW = `key total counts oldestSeconds lastReply lastSuccessAt closedUntil closedReason
  hold { id reason expiresAt }`;

type StatsLine = Stats['series'][number] & Pick<Stats, 'complete_until'>;

const statSeries = query(
  'stats',
  {
    range: 'TimeRange!',
    bucket: 'Bucket!',
    groupBy: 'StatDimension',
    metrics: '[Metric!]!',
    top: 'Int',
    reach: 'Reach',
  },
  select<readonly StatsLine[]>('metric key points { at value } completeUntil'),
);
const backlog = query(
  'backlog',
  { by: 'BacklogDimension', top: 'Int', reach: 'Reach' },
  select<Backlog>(`dimension bucketUpperMinutes measuredAt rows { ${ROW} } total { ${ROW} }`),
);
const failureGroups = query(
  'failureGroups',
  { range: 'TimeRange!', kind: 'FailureKind!', top: 'Int', reach: 'Reach' },
  select<readonly FailureGroup[]>(`id signature kind smtpCode enhancedCode sample count destinations firstSeenAt
    lastSeenAt trend { at value }`),
);

/** Adds the commands for outcomes, backlog and failures. */
export function addNumbers(program: Command, terminal: Terminal): void {
  program
    .command('stats')
    .description('email outcomes by minute, hour or day')
    .addOption(new Option('--bucket <length>', 'interval').choices(bucket_lengths).default('hour'))
    .option('--since <time>', 'start time, ISO 8601 (default: a day ago, or an hour ago with --bucket minute)')
    .option('--until <time>', 'end time, ISO 8601 (default: now)')
    .addOption(new Option('--by <dimension>', 'group by').choices(stat_dimensions).default('none'))
    .addOption(new Option('--metrics <names...>', 'metrics to print').choices(stat_metrics).default(default_metrics))
    .option('--top <count>', 'maximum number of groups', count)
    .addOption(reachOption())
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { bucket: string; by: string; metrics: string[] }) => {
      const back = options.bucket === 'minute' ? HOUR_MS : 24 * HOUR_MS;
      const range = rangeOf(options, back);
      const series = await graphql(terminal, statSeries, {
        range,
        bucket: enumValue(options.bucket),
        groupBy: enumValue(options.by),
        // Captured emails count as delivered in the API. The text shows them apart, so it needs their number.
        metrics: [...new Set([...options.metrics, 'captured'])].map(enumValue),
        top: options.top,
        reach: enumValue(options.reach),
      });
      const stats = {
        object: 'stats',
        bucket: options.bucket,
        group_by: options.by,
        ...range,
        complete_until: series[0]?.complete_until ?? null,
        series: series
          .filter(({ metric }) => options.metrics.includes(metric))
          .map(({ complete_until: _, ...one }) => one),
      };
      const captured = series.filter(({ metric }) => metric === 'captured');
      show(terminal, options.json, stats, () => statLines(stats, captured));
    });
  program
    .command('backlog')
    .description('pending email by age')
    .addOption(new Option('--by <dimension>', 'group by').choices(backlog_dimensions).default('destination'))
    .option('--top <count>', 'maximum number of rows', count)
    .addOption(reachOption())
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { by: string }) => {
      const backlog_counts = await graphql(terminal, backlog, {
        by: enumValue(options.by),
        top: options.top,
        reach: enumValue(options.reach),
      });
      const result: Backlog = { ...backlog_counts, object: 'backlog' };
      show(terminal, options.json, result, () => backlogLines(result));
    });
  program
    .command('failures')
    .description('groups of similar failures, most frequent first')
    .addOption(new Option('--kind <kind>', 'type of failure').choices(failure_kinds).default('smtp'))
    .option('--since <time>', 'start time, ISO 8601 (default: a day ago)')
    .option('--until <time>', 'end time, ISO 8601 (default: now)')
    .option('--top <count>', 'maximum number of rows', count)
    .addOption(reachOption())
    .option('--json', 'print JSON')
    .action(async (options: RangeOptions & { kind: string }) => {
      const range = rangeOf(options, 24 * HOUR_MS);
      const data = await graphql(terminal, failureGroups, {
        range,
        kind: enumValue(options.kind),
        top: options.top,
        reach: enumValue(options.reach),
      });
      show(terminal, options.json, { object: 'list', ...range, data }, () => failureLines(data));
    });
}

function reachOption(): Option {
  return new Option(...REACH).choices(['workspace', 'instance']);
}

function rangeOf({ since, until }: RangeOptions, back: number) {
  return { since: since ?? new Date(nowMs() - back).toISOString(), ...(until !== undefined && { until }) };
}

type StatsView = Pick<Stats, 'series'> & { readonly group_by: string; readonly complete_until: string | null };

export function statLines({ series, group_by, complete_until }: StatsView, captured: StatsView['series'] = []): string {
  // One series covers both the entries without a key and those without a line of their own.
  const rest = series.some(({ key }) => key !== null) ? '(others)' : '(none)';
  const names = series.map(({ metric, key }) => {
    const name = /_p\d+$/.test(metric) ? `${metric} (s)` : metric;
    return group_by === 'none' ? name : `${name} ${key ?? rest}`;
  });
  const times = series[0]?.points.map(({ at }) => at) ?? [];
  const lines = times.map((at, place) => [at, ...series.map((one) => String(valueAt(captured, one, place) ?? ''))]);
  const text = series.length > 0 ? table([['', ...names.map(plain)], ...lines]) : 'No data for this period.';
  return complete_until === null ? text : `${text}\nData is complete until ${complete_until}.`;
}

/** Returns the value of a point, without captured emails in what was delivered. */
function valueAt(all: StatsView['series'], { metric, key, points }: StatsView['series'][number], place: number) {
  const value = points[place]?.value ?? null;
  const captured = all.find((one) => metric === 'delivered' && one.key === key);
  return value === null ? null : value - (captured?.points[place]?.value ?? 0);
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
  return table([head, line('total', total), ...rows.map((row) => line(row.key, row))]);
}

function failureLines(data: readonly FailureGroup[]): string {
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
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return Number(text);
}
