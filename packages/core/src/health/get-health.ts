import { z } from 'zod';
import { backlogOf } from '../backlog/index.ts';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { isOperator, ownAccess } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { totalsOf } from '../stats/index.ts';
import { monthUsageOf } from '../usage/index.ts';
import {
  type InstanceParts,
  instanceProblems,
  MAX_DESTINATIONS,
  type Problem,
  type ProblemKind,
  sharedProblems,
  workspaceProblems,
} from './problems.ts';

const DAY_MS = 86_400_000;

/** From best to worst. */
export const healthStatuses = ['ok', 'warning', 'failing'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

const checkSchema = z.object({
  name: z.string().meta({ examples: ['delivery'] }),
  status: z.enum(healthStatuses),
  detail: z.string().nullable().meta({ description: 'The finding, if there is a problem.' }),
  advice: z.string().nullable(),
  since: timeField.nullable().meta({ description: 'When the problem began, as far as known.' }),
  page: z.string().nullable().meta({ description: 'The path of the dashboard page that shows the problem.' }),
  checked_at: timeField,
});
const healthSchema = z
  .object({
    object: objectName('health'),
    status: z.enum(healthStatuses).meta({ description: 'The worst status among all checks.' }),
    checks: z.array(checkSchema).readonly(),
  })
  .meta({ id: 'Health' });
export type Health = z.output<typeof healthSchema>;

/** The checks, in order, and the problems that each of them reports. Those of the instance come first. */
const checksByName: Readonly<Record<string, readonly ProblemKind[]>> = {
  database: ['database'],
  delivery: ['worker'],
  line: ['line'],
  holds: ['hold'],
  dead_jobs: ['dead_jobs'],
  disk: ['disk'],
  replica: ['replica'],
  schedules: ['schedule'],
  alerts: ['alarm'],
  relay_feedback: ['feedback_missing', 'feedback_rejected'],
  domains: ['domain'],
  webhooks: ['webhook'],
  quota: ['quota'],
  waiting: ['waiting'],
  bounces: ['bounces'],
  failed: ['failed'],
};
const forOperators = new Set(['dead_jobs', 'disk', 'replica', 'schedules', 'alerts']);
const forAdmins = new Set(['domains', 'webhooks', 'quota', 'waiting', 'bounces', 'failed']);

/**
 * Returns whether email is being sent and which problems in the caller's workspace need attention; operators also see
 * the problems of the instance.
 */
export const getHealth = operation({
  name: 'health.get',
  // ownAccess checks the scope: admin for the caller's workspace, operator for the instance.
  scope: null,
  summary: 'Whether email is being sent, and what needs attention',
  input: z.object({}),
  output: healthSchema,
  async run(ctx): Promise<Health> {
    const { actor } = ctx;
    const own = ownAccess(actor).includes(actor.workspace_id);
    const operator = isOperator(actor);
    const [shared, workspace] = await Promise.all([
      operator ? instanceProblems(ctx) : sharedProblems(ctx),
      own ? ownProblems(ctx, actor.workspace_id) : [],
    ]);
    const problems: Problem[] = [...shared, ...workspace];
    const checked_at = isoTime(ctx.clock.now());
    const names = Object.keys(checksByName).filter(
      (name) => (operator || !forOperators.has(name)) && (own || !forAdmins.has(name)),
    );
    const checks = names.map((name) => {
      const matching = problems.filter(({ kind }) => checksByName[name]?.includes(kind));
      const [worst_problem] = matching;
      return {
        name,
        status: statusOf(matching),
        detail: matching.length === 0 ? null : matching.map(({ detail }) => detail).join(' '),
        advice: worst_problem?.advice || null,
        since: matching.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
        page: worst_problem?.page ?? null,
        checked_at,
      };
    });
    return { object: 'health', status: statusOf(problems), checks };
  },
});

async function ownProblems(ctx: ActorContext, workspace_id: string): Promise<Problem[]> {
  const [totals, usage, backlog] = await Promise.all([
    totalsOf(ctx.sql, workspace_id, { since: new Date(ctx.clock.now() - DAY_MS) }),
    monthUsageOf(ctx.sql, workspace_id),
    backlogOf(ctx, 'destination', workspace_id, MAX_DESTINATIONS),
  ]);
  return workspaceProblems(ctx, workspace_id, { usage, totals, backlog });
}

/** Returns the judgement of the instance alone. */
export async function instanceStatus(ctx: InstanceParts): Promise<HealthStatus> {
  return statusOf(await instanceProblems(ctx));
}

function statusOf(problems: readonly Problem[]): HealthStatus {
  if (problems.length === 0) return 'ok';
  return problems.some(({ severity }) => severity === 'error') ? 'failing' : 'warning';
}
