import { z } from 'zod';
import { type Backlog, backlogOf } from '../backlog/index.ts';
import { isoTime } from '../fields/clock.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { countMetrics, type Totals, totalsOf } from '../stats/index.ts';
import { type MonthUsage, monthUsageOf, monthUsageSchema } from '../usage/index.ts';
import { troubles } from './store.ts';

const DAY_MS = 86_400_000;
const MAX_NAMES = 5;
/** A due message is usually sent within seconds; the first retry of a deferral follows after a minute. */
const LATE_SECONDS = 300;
const QUOTA_SHARE = 0.8;
/**
 * Mailbox providers begin to throttle senders at about this bounce rate. With only a few messages, the rate means
 * nothing.
 */
const BOUNCES = { share: 0.05, at_least: 20 };

const problemKinds = ['domain', 'webhook', 'hold', 'waiting', 'quota', 'bounces', 'failed'] as const;
const problemSchema = z.object({
  kind: z.enum(problemKinds),
  state: z.string().meta({
    description: 'Of a domain or webhook its status, of a hold its scope; otherwise the kind again.',
    examples: ['at_risk', 'disabled'],
  }),
  severity: z.enum(['error', 'warning']),
  count: z.int().meta({ description: 'Domains, webhooks, holds or recipients; of quota the percentage used.' }),
  since: timeField.nullable(),
  names: z
    .array(z.string())
    .readonly()
    .meta({ description: 'Of the first few: names of domains, ids of webhooks and holds, destinations of mail.' }),
});
type Problem = z.output<typeof problemSchema>;

const countField = z.int();
const overviewSchema = z.object({
  object: z.literal('overview'),
  since: timeField,
  until: timeField,
  complete_until: timeField.meta({ description: 'Data after this time is not complete yet.' }),
  totals: z.record(z.enum(countMetrics), countField),
  accept_to_delivered_p95_seconds: z.number().nullable(),
  waiting: z.object({ count: countField, oldest_seconds: z.number().nullable() }),
  usage: monthUsageSchema,
  problems: z.array(problemSchema).readonly().meta({ description: 'Errors first; empty where no action is needed.' }),
});
export type Overview = z.output<typeof overviewSchema>;

/** Returns the dashboard's first page: the problems that need action, then the state of the workspace's email. */
export const overviewSummary = operation({
  name: 'overview.summary',
  scope: 'email:logs:read',
  summary: 'What became of mail lately, what waits, how much of the plan is used, and what needs action',
  input: z.object({
    since: timestampField('since').optional().meta({ description: 'At or after this time. Default: 24 hours ago.' }),
    until: timestampField('until').optional(),
  }),
  output: overviewSchema,
  async run(ctx, { since, until }): Promise<Overview> {
    const { workspace_id } = ctx.actor;
    const begin = since ?? new Date((until?.getTime() ?? ctx.clock.now()) - DAY_MS);
    const [totals, usage, backlog, rows] = await Promise.all([
      totalsOf(ctx.sql, workspace_id, { since: begin, until }),
      monthUsageOf(ctx.sql, workspace_id),
      backlogOf(ctx, 'destination', workspace_id, MAX_NAMES),
      troubles(ctx.sql, workspace_id, MAX_NAMES),
    ]);
    const problems: Problem[] = [
      ...rows.map(({ kind, state, count, since: at, names }) => ({
        kind,
        state,
        severity: kind === 'hold' || state === 'failing' ? ('warning' as const) : ('error' as const),
        count,
        since: isoTime(at),
        names,
      })),
      ...lateQueues(backlog),
      ...overQuota(usage),
      ...lost(totals),
    ];
    return {
      object: 'overview',
      since: isoTime(totals.from),
      until: isoTime(totals.to),
      complete_until: isoTime(totals.complete_until),
      totals: totals.counts,
      accept_to_delivered_p95_seconds: totals.accept_to_delivered_p95,
      waiting: { count: backlog.total.total, oldest_seconds: backlog.total.oldest_seconds },
      usage,
      problems: problems.toSorted((left, right) =>
        left.severity < right.severity ? -1 : left.severity > right.severity ? 1 : 0,
      ),
    };
  },
});

function lateQueues({ total, rows, measured_at }: Backlog): Problem[] {
  if (total.oldest_seconds === null || total.oldest_seconds < LATE_SECONDS) return [];
  const slow = rows.filter(({ oldest_seconds }) => (oldest_seconds ?? 0) >= LATE_SECONDS);
  const since = isoTime(Date.parse(measured_at) - total.oldest_seconds * 1000);
  const names = slow.map(({ key }) => key).filter((key) => key !== '');
  return [{ kind: 'waiting', state: 'waiting', severity: 'warning', count: total.total, since, names }];
}

function overQuota({ limit, used }: MonthUsage): Problem[] {
  if (limit === null || used < limit * QUOTA_SHARE) return [];
  const severity = used >= limit ? 'error' : 'warning';
  const count = limit === 0 ? 100 : Math.floor((used / limit) * 100);
  return [{ kind: 'quota', state: 'quota', severity, count, since: null, names: [] }];
}

function lost({ counts, from }: Totals): Problem[] {
  const { delivered, bounced, failed } = counts;
  const many = bounced >= BOUNCES.at_least && bounced / (bounced + delivered) > BOUNCES.share;
  const common = { severity: 'warning' as const, since: isoTime(from), names: [] };
  return [
    ...(many ? [{ ...common, kind: 'bounces' as const, state: 'bounces', count: bounced }] : []),
    ...(failed > 0 ? [{ ...common, kind: 'failed' as const, state: 'failed', count: failed }] : []),
  ];
}
