import { pendingMigrations } from '@postrider/db';
import { dashboardPath, openConditions } from '../alarms/index.ts';
import { type Backlog, backlogOf } from '../backlog/index.ts';
import { checkDisk } from '../doctor/index.ts';
import { type FeedbackProblem, feedbackProblems } from '../feedback/index.ts';
import { isoTime } from '../fields/clock.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext, Services } from '../operation/context.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { program_name } from '../process/program.ts';
import type { Totals } from '../stats/index.ts';
import type { MonthUsage } from '../usage/index.ts';
import { failedSchedules } from './failed-schedules.ts';
import { type InstanceFacts, instanceFacts, type TroubleRow, troubles } from './store.ts';

const MAX_NAMES = 5;
export const MAX_DESTINATIONS = 100;
/** A due message is usually sent within seconds; the first retry of a deferral follows after a minute. */
const LATE_SECONDS = 300;
const QUOTA_SHARE = 0.8;
/**
 * Mailbox providers begin to throttle senders at about this bounce rate. With only a few messages, the rate means
 * nothing.
 */
const BOUNCES = { share: 0.05, at_least: 20 };

/** Problems of relays, which a workspace and the instance each may have. */
const relayProblemKinds = ['feedback_missing', 'feedback_rejected'] as const;
export const workspaceProblemKinds = [
  'domain',
  'webhook',
  'hold',
  'waiting',
  'quota',
  'bounces',
  'failed',
  ...relayProblemKinds,
] as const;
/** Problems of the instance that stop or delay the email of each workspace, so that each sees them. */
export const sharedProblemKinds = ['database', 'worker', 'line', 'hold'] as const;
const operatorProblemKinds = ['dead_jobs', 'disk', 'replica', 'schedule', 'alarm', ...relayProblemKinds] as const;
export type ProblemKind =
  | (typeof workspaceProblemKinds)[number]
  | (typeof sharedProblemKinds)[number]
  | (typeof operatorProblemKinds)[number]
  | 'instance';

/** Something that needs attention. This is the only place that decides what does. */
export interface Problem<K extends ProblemKind = ProblemKind> {
  readonly kind: K;
  /** The state that all affected resources share; otherwise the kind again. */
  readonly state: string;
  readonly severity: 'error' | 'warning';
  readonly count: number;
  /** Null for a rate over a window, which the detail names. */
  readonly since: string | null;
  readonly names: readonly string[];
  readonly detail: string;
  readonly advice: string;
  /** The path of the dashboard page that shows it, with its workspace. */
  readonly page: string;
}

type WorkspaceProblem = Problem<(typeof workspaceProblemKinds)[number]>;
type SharedProblem = Problem<(typeof sharedProblemKinds)[number]>;
type RelayProblem = Problem<(typeof relayProblemKinds)[number]>;
type OperatorProblem = Problem<(typeof operatorProblemKinds)[number]>;

/** What a judgement of the instance reads. */
export type InstanceParts = Pick<Services, 'sql' | 'config' | 'replica'>;

const byState: Readonly<Record<string, readonly [words: string, advice: string]>> = {
  at_risk: ['About to fail', 'A DNS record is missing. Publish it again within 72 hours.'],
  failed: ['Cannot send', 'Publish their DNS records again, then verify them.'],
  suspended: ['Suspended', 'An operator must resume them.'],
  disabled: ['Disabled after failures', 'Fix the endpoint, enable it and recover failed deliveries.'],
  failing: ['No delivery succeeded for ten minutes', 'Check their deliveries.'],
};

/**
 * Returns the problems of a workspace, errors first, from its usage of the month, its totals of the last day, and its
 * backlog by destination.
 */
export async function workspaceProblems(
  ctx: ActorContext,
  workspace_id: string,
  { usage, totals, backlog }: { readonly usage: MonthUsage; readonly totals: Totals; readonly backlog: Backlog },
): Promise<WorkspaceProblem[]> {
  const rows = await troubles(ctx.sql, workspace_id, MAX_NAMES);
  const stored = rows.map(({ kind, state, count, since, names }): WorkspaceProblem => {
    const [words = 'Active holds', advice = 'Release holds that are no longer needed.'] = byState[state] ?? [];
    return {
      kind,
      state,
      severity: kind === 'hold' || state === 'failing' || state === 'at_risk' ? 'warning' : 'error',
      count,
      since: isoTime(since),
      names,
      detail: `${words}: ${names.join(', ')}.`,
      advice,
      page: { domain: '/domains', webhook: '/webhooks', hold: '/delivery/holds' }[kind],
    };
  });
  const own = [
    ...stored,
    ...(await lateEmail(ctx, workspace_id, rows, backlog)),
    ...overQuota(usage),
    ...lost(totals),
    // Only admins see the transports of their workspace.
    ...(scopeRefusal(ctx.actor, 'admin') ? [] : await relayProblems(ctx, workspace_id)),
  ];
  return placed(own, workspace_id);
}

/** The holds on email of a workspace other than those on a destination, which the backlog by destination shows. */
const HELD_BY = ['sender_domain', 'api_key'] as const;

/** Returns late email. Email that is held, or whose destination is throttled, waits on purpose. */
async function lateEmail(
  ctx: ActorContext,
  workspace_id: string,
  stored: readonly TroubleRow[],
  by_destination: Backlog,
): Promise<WorkspaceProblem[]> {
  if ((await instanceFacts(ctx.sql)).mail_held) return [];
  const held_by = HELD_BY.find((scope) => stored.some(({ kind, state }) => kind === 'hold' && state === scope));
  const { rows, measured_at } = held_by
    ? await backlogOf(ctx, held_by, workspace_id, MAX_DESTINATIONS)
    : by_destination;
  const late = rows.filter(
    ({ oldest_seconds, hold, closed_until }) =>
      (oldest_seconds ?? 0) >= LATE_SECONDS && hold === null && closed_until === null,
  );
  if (late.length === 0) return [];
  const count = late.reduce((sum, { total }) => sum + total, 0);
  const oldest_seconds = Math.max(...late.map((row) => row.oldest_seconds ?? 0));
  return [
    {
      kind: 'waiting',
      state: 'waiting',
      severity: 'warning',
      count,
      since: isoTime(Date.parse(measured_at) - oldest_seconds * 1000),
      names: late.slice(0, MAX_NAMES).flatMap(({ key }) => (key === '' ? [] : [key])),
      detail: `Delivery is delayed for ${count} ${count === 1 ? 'recipient' : 'recipients'}.`,
      advice: 'Check the last responses of their servers in the backlog.',
      page: '/emails?q=status:queued,deferred',
    },
  ];
}

function overQuota({ limit, used, resets_at }: MonthUsage): WorkspaceProblem[] {
  if (limit === null || used < limit * QUOTA_SHARE) return [];
  return [
    {
      kind: 'quota',
      state: 'quota',
      severity: used >= limit ? 'error' : 'warning',
      count: limit === 0 ? 100 : Math.floor((used / limit) * 100),
      since: null,
      names: [],
      detail: `${used} of ${limit} emails used this month. Resets at ${resets_at}.`,
      advice: 'Ask an operator for a larger plan.',
      page: '/settings/general',
    },
  ];
}

function lost({ counts: { delivered, bounced, failed } }: Totals): WorkspaceProblem[] {
  const common = { severity: 'warning' as const, since: null, names: [] };
  const share = bounced / (bounced + delivered);
  return [
    ...(bounced >= BOUNCES.at_least && share > BOUNCES.share
      ? [
          {
            ...common,
            kind: 'bounces' as const,
            state: 'bounces',
            count: bounced,
            detail: `${bounced} emails bounced in the last 24 hours (${(100 * share).toFixed(1)}%).`,
            advice: 'Remove addresses that bounced, and check where they came from.',
            page: '/emails?q=status:bounced',
          },
        ]
      : []),
    ...(failed > 0
      ? [
          {
            ...common,
            kind: 'failed' as const,
            state: 'failed',
            count: failed,
            detail: `${failed} ${failed === 1 ? 'email' : 'emails'} failed in the last 24 hours.`,
            advice: 'Check their last responses, then resend them.',
            page: '/emails?q=status:failed',
          },
        ]
      : []),
  ];
}

const byFeedback = {
  missing: [
    'feedback_missing',
    'Relays without feedback, whose bounces are never seen',
    'Set up feedback for them: postrider transports set-feedback.',
  ],
  rejected: [
    'feedback_rejected',
    'Feedback requests fail their signature check',
    'Correct the URL and the secret at the relay.',
  ],
} as const satisfies Record<FeedbackProblem['kind'], unknown>;

/** Returns the relays of a workspace or, for INSTANCE, of the instance, whose bounces are not seen. */
async function relayProblems(
  ctx: Pick<InstanceParts, 'sql' | 'config'>,
  workspace_id: string,
): Promise<RelayProblem[]> {
  const all = await feedbackProblems(ctx, workspace_id === INSTANCE ? null : workspace_id);
  return Object.entries(byFeedback).flatMap(([name, [kind, words, advice]]) => {
    const relays = all.filter((one) => one.kind === name);
    if (relays.length === 0) return [];
    const names = relays.slice(0, MAX_NAMES).map((one) => one.name);
    return [
      {
        ...problem(kind, 'warning', `${words}: ${names.join(', ')}.`, advice),
        count: relays.length,
        since: relays.flatMap(({ since }) => (since === null ? [] : [isoTime(since)])).toSorted()[0] ?? null,
        names,
        page: workspace_id === INSTANCE ? '/instance/delivery/transports' : '/settings/transports',
      },
    ];
  });
}

/** Returns all problems of the instance, errors first. */
export async function instanceProblems(ctx: InstanceParts): Promise<(SharedProblem | OperatorProblem)[]> {
  const [shared, own] = await Promise.all([sharedProblems(ctx), operatorProblems(ctx)]);
  return [...shared, ...own].toSorted(bySeverity);
}

/** Returns the problems of the instance that stop or delay email, errors first. */
export async function sharedProblems({ sql }: Pick<InstanceParts, 'sql'>): Promise<SharedProblem[]> {
  const [pending, facts, holds] = await Promise.all([
    pendingMigrations(sql),
    instanceFacts(sql),
    troubles(sql, INSTANCE, MAX_NAMES),
  ]);
  const problems: SharedProblem[] = [
    ...(pending.length === 0
      ? []
      : [problem('database', 'error', `Pending migrations: ${pending.join(', ')}.`, `Run ${program_name} migrate.`)]),
    ...worker(facts),
    ...line(facts),
    ...holds.flatMap(({ kind, state, count, since, names }) =>
      kind === 'hold'
        ? [
            {
              ...problem('hold', 'warning', `Instance holds: ${names.join(', ')}.`, 'An operator can release them.'),
              // Then no email leaves at all.
              severity:
                facts.mail_held && (state === 'instance' || state === 'queue')
                  ? ('error' as const)
                  : ('warning' as const),
              state,
              count,
              names,
              since: isoTime(since),
              page: '/delivery/holds',
            },
          ]
        : [],
    ),
  ];
  return placed(problems, INSTANCE);
}

/**
 * Returns the problems that only operators see, for pages about a workspace: those of relays, and one entry for all
 * others.
 */
export async function operatorSummary(ctx: InstanceParts): Promise<(RelayProblem | Problem<'instance'>)[]> {
  const all = await operatorProblems(ctx);
  const relays = all.filter(isOfRelays);
  const problems = all.filter((one) => !isOfRelays(one));
  const [first] = problems;
  if (!first) return relays;
  const summary = placed(
    [
      {
        ...problem('instance', first.severity, problems.map(({ detail }) => detail).join(' '), first.advice),
        count: problems.length,
        since: problems.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
        names: problems.slice(0, MAX_NAMES).map(({ kind }) => kind),
      },
    ],
    INSTANCE,
  );
  return [...summary, ...relays];
}

function isOfRelays(one: OperatorProblem): one is RelayProblem {
  return relayProblemKinds.some((kind) => kind === one.kind);
}

async function operatorProblems(ctx: InstanceParts): Promise<OperatorProblem[]> {
  const [facts, disk, schedules, conditions, relays] = await Promise.all([
    instanceFacts(ctx.sql),
    checkDisk(ctx.sql, ctx.config),
    failedSchedules(ctx.sql, MAX_NAMES),
    openConditions(ctx.sql),
    relayProblems(ctx, INSTANCE),
  ]);
  const { dead, queues_with_dead } = facts;
  const problems: OperatorProblem[] = [
    ...(dead === 0
      ? []
      : [
          {
            ...problem(
              'dead_jobs',
              'warning',
              `${dead} ${dead === 1 ? 'job is' : 'jobs are'} dead in ${queues_with_dead.join(', ')}.`,
              'Check why they failed, then retry or cancel them.',
            ),
            count: dead,
            names: queues_with_dead,
            page: '/instance/jobs?state=dead',
          },
        ]),
    ...(disk.status === 'warning' || disk.status === 'failing'
      ? [
          {
            ...problem('disk', disk.status === 'failing' ? 'error' : 'warning', disk.detail, disk.fix ?? ''),
            page: '/instance/storage',
          },
        ]
      : []),
    ...(ctx.replica !== null && ctx.replica.current() === null
      ? [
          problem(
            'replica',
            'warning',
            'The replica is unreachable or over five seconds behind. Reads use the primary.',
            'Check the replication of DATABASE_READ_URL.',
          ),
        ]
      : []),
    ...schedules.map(({ name, since }) => ({
      ...problem('schedule', 'warning', `The last run of ${name} failed.`, 'Check the job, then run the schedule now.'),
      state: name,
      names: [name],
      since: isoTime(since),
      page: '/instance/schedules',
    })),
    ...conditions.map(({ rule, title, subject, detail, page, seen_since }) => ({
      ...problem('alarm', 'warning', detail, ''),
      state: rule,
      names: [title, ...(subject === '' ? [] : [subject])],
      since: isoTime(seen_since),
      page,
    })),
    ...relays,
  ];
  return placed(problems, INSTANCE);
}

function problem<K extends ProblemKind>(
  kind: K,
  severity: Problem['severity'],
  detail: string,
  advice: string,
): Problem<K> {
  const common = { state: kind, count: 1, since: null, names: [], page: '/instance/status' };
  return { ...common, kind, severity, detail, advice };
}

function worker({ worker_there, worker_seen }: InstanceFacts): SharedProblem[] {
  if (worker_there) return [];
  const detail = worker_seen ? `Last worker heartbeat: ${isoTime(worker_seen)}.` : 'No worker has run yet.';
  const since = worker_seen && isoTime(worker_seen);
  return [{ ...problem('worker', 'error', detail, 'Start a process with worker in ROLES.'), since }];
}

function line({ oldest_ready_seconds, measured_at, mail_held, now }: InstanceFacts): SharedProblem[] {
  if (oldest_ready_seconds === null || oldest_ready_seconds <= LATE_SECONDS || mail_held) return [];
  const since = (measured_at ?? now).getTime() - oldest_ready_seconds * 1000;
  return [
    {
      ...problem(
        'line',
        'warning',
        `Due email has been waiting for ${Math.round((now.getTime() - since) / 1000)} s.`,
        'Check the backlog. If no destination is throttled and nothing is held, start another worker.',
      ),
      since: isoTime(since),
    },
  ];
}

/** Returns problems with the full path of their pages, errors first. */
function placed<K extends ProblemKind>(problems: readonly Problem<K>[], workspace_id: string): Problem<K>[] {
  return problems.map((one) => ({ ...one, page: dashboardPath(workspace_id, one.page) })).toSorted(bySeverity);
}

function bySeverity(left: Problem, right: Problem): number {
  return Number(left.severity === 'warning') - Number(right.severity === 'warning');
}
