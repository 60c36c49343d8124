import { z } from 'zod';
import { backlogOf } from '../backlog/index.ts';
import { isoTime } from '../fields/clock.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { objectName, timeField } from '../fields/wire.ts';
import {
  MAX_DESTINATIONS,
  operatorSummary,
  sharedProblemKinds,
  sharedProblems,
  workspaceProblemKinds,
  workspaceProblems,
} from '../health/index.ts';
import { isOperator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { countMetrics, totalsOf } from '../stats/index.ts';
import { monthUsageOf, monthUsageSchema } from '../usage/index.ts';

const DAY_MS = 86_400_000;
const problemSchema = z.object({
  kind: z.enum([...workspaceProblemKinds, ...sharedProblemKinds, 'instance']),
  state: z.string().meta({
    description: 'Of a domain or webhook its status, of a hold its scope; otherwise the kind again.',
    examples: ['at_risk', 'disabled'],
  }),
  severity: z.enum(['error', 'warning']),
  count: z.int().meta({ description: 'Domains, webhooks, holds, relays or recipients; of quota the percentage used.' }),
  since: timeField.nullable().meta({ description: 'Null if unknown, and for a rate over the last 24 hours.' }),
  page: z.string().meta({ description: 'The path of the dashboard page that shows it.' }),
  names: z.array(z.string()).readonly().meta({
    description: 'Of the first few: names of domains and relays, ids of webhooks and holds, destinations of mail.',
  }),
});

const countField = z.int();
const overviewSchema = z.object({
  object: objectName('overview'),
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
    const [totals, last_day, usage, backlog] = await Promise.all([
      totalsOf(ctx.sql, workspace_id, { since: begin, until }),
      since === undefined && until === undefined
        ? null
        : totalsOf(ctx.sql, workspace_id, { since: new Date(ctx.clock.now() - DAY_MS) }),
      monthUsageOf(ctx.sql, workspace_id),
      backlogOf(ctx, 'destination', workspace_id, MAX_DESTINATIONS),
    ]);
    const [own, shared, operator] = await Promise.all([
      workspaceProblems(ctx, workspace_id, { usage, totals: last_day ?? totals, backlog }),
      sharedProblems(ctx),
      isOperator(ctx.actor) ? operatorSummary(ctx) : [],
    ]);
    return {
      object: 'overview',
      since: isoTime(totals.from),
      until: isoTime(totals.to),
      complete_until: isoTime(totals.complete_until),
      totals: totals.counts,
      accept_to_delivered_p95_seconds: totals.accept_to_delivered_p95,
      waiting: { count: backlog.total.total, oldest_seconds: backlog.total.oldest_seconds },
      usage,
      problems: [...shared, ...operator, ...own].map(({ kind, state, severity, count, since, names, page }) => ({
        kind,
        state,
        severity,
        count,
        since,
        names,
        page,
      })),
    };
  },
});
