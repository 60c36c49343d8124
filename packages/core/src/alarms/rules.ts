import type { InstanceNumbers } from '../metrics/index.ts';
import { type AccessScope, accessScopes, INSTANCE } from '../operation/access.ts';
import { FAILING_SECONDS } from '../webhooks/index.ts';
import { type AlarmFacts, BURN_HOURS, LATE_SECONDS, RECENT_MINUTES } from './facts-store.ts';

/** A number that a rule judges, and its subject. */
export interface Measurement {
  readonly workspace_id: string;
  readonly subject: string;
  readonly value: number;
  readonly detail: string;
  readonly page: string;
}

interface Rule {
  readonly title: string;
  /** The alarm is raised at or above this value, and ends below `clear`. */
  readonly raise: number;
  readonly clear: number;
  readonly for_seconds: number;
  readonly clear_seconds: number;
  /** Who may have such an alarm. */
  readonly owners: readonly AccessScope[];
  /** The condition of the alert, without its duration. */
  condition(raise: number): string;
  measure(numbers: InstanceNumbers, facts: AlarmFacts): readonly Measurement[];
}

const MINUTE = 60;
// Fewer attempts make a share meaningless.
const MIN_ATTEMPTS = 50;
// The share of first attempts that may be more than a minute late.
const BUDGET = 0.01;
const MIN_BACKLOG = 1000;
const HOLD_END_MINUTES = 15;
// The end of a shorter hold is not worth a notice.
const MIN_HOLD_HOURS = 1;
const percent = (share: number, digits = 0) => `${Number((share * 100).toFixed(digits))}%`;
const hours = (count: number) => (count === 1 ? 'hour' : `${count} hours`);
const INSTANCE_ONLY = ['instance'] as const;
const WORKSPACE_ONLY = ['workspace'] as const;

/** Writes a duration in the largest unit that divides it. */
export function spanOf(seconds: number): string {
  if (seconds % (60 * MINUTE) === 0) return `${seconds / (60 * MINUTE)} h`;
  return seconds % MINUTE === 0 ? `${seconds / MINUTE} min` : `${seconds} s`;
}

const lateAttempts = (raise: number, span: number) =>
  `At least ${percent(raise * BUDGET, 1)} of at least ${MIN_ATTEMPTS} first attempts in the last ${hours(span)} started more than ${spanOf(LATE_SECONDS)} late`;
const instance_scopes = (subject: string, value: number, detail: string, page: string): Measurement[] => [
  { workspace_id: INSTANCE, subject, value, detail, page },
];
const waiting = ({ ready, parked }: InstanceNumbers['queues'][number]) => ready + parked;

function burn(late_count: number, all: number, span: number): Measurement[] {
  const rate = all < MIN_ATTEMPTS ? 0 : late_count / all / BUDGET;
  const detail = `${late_count} of ${all} emails in the last ${hours(span)} waited more than ${spanOf(LATE_SECONDS)} for their first attempt.`;
  return instance_scopes('', rate, detail, '/instance/queues');
}

/** All alarms. A value between clear and raise leaves an alarm unchanged. */
export const alarmRules = {
  first_attempt_slow_1h: {
    title: 'Slow first attempts (1 h)',
    raise: 14.4,
    clear: 7,
    for_seconds: 2 * MINUTE,
    clear_seconds: 5 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) => lateAttempts(raise, BURN_HOURS.short),
    measure: (_, { first_attempts: { late_1h, all_1h } }) => burn(late_1h, all_1h, BURN_HOURS.short),
  },
  first_attempt_slow_6h: {
    title: 'Slow first attempts (6 h)',
    raise: 6,
    clear: 3,
    for_seconds: 15 * MINUTE,
    clear_seconds: 15 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) => lateAttempts(raise, BURN_HOURS.long),
    measure: (_, { first_attempts: { late_6h, all_6h } }) => burn(late_6h, all_6h, BURN_HOURS.long),
  },
  queue_waits: {
    title: 'Queue delayed',
    raise: 300,
    clear: 120,
    for_seconds: MINUTE,
    clear_seconds: 2 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) =>
      `The oldest ready job in a queue has waited at least ${spanOf(raise)}, and the queue is not held`,
    measure: ({ queues }) =>
      queues.flatMap(({ queue, oldest_ready_seconds, held }) =>
        instance_scopes(
          queue,
          held ? 0 : (oldest_ready_seconds ?? 0),
          `The oldest ready job in ${queue} has waited ${Math.round(oldest_ready_seconds ?? 0)} s.`,
          '/instance/queues',
        ),
      ),
  },
  no_worker: {
    title: 'No worker running',
    raise: 1,
    clear: 1,
    for_seconds: 30,
    clear_seconds: 0,
    owners: INSTANCE_ONLY,
    condition: () => 'No worker is running, and jobs are waiting',
    measure: ({ roles, queues }) => {
      const live = roles.find(({ role }) => role === 'worker')?.live ?? 0;
      const due = queues.reduce((sum, stand) => sum + waiting(stand) + stand.active, 0);
      const detail = `No worker is running, and ${due} jobs are waiting.`;
      return instance_scopes('', live === 0 && due > 0 ? 1 : 0, detail, '/instance/workers');
    },
  },
  backlog_grows: {
    title: 'Backlog growing',
    raise: 1.2,
    clear: 1,
    for_seconds: 15 * MINUTE,
    clear_seconds: 5 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) =>
      `At least ${MIN_BACKLOG.toLocaleString('en')} jobs are ready in a queue, at least ${percent(raise - 1)} more than ${spanOf(RECENT_MINUTES * MINUTE)} earlier`,
    measure: ({ queues }, { before }) =>
      queues.flatMap((stand) => {
        // Parked and held work waits on purpose.
        const previous = before.find(({ queue }) => queue === stand.queue)?.waiting ?? stand.ready;
        const growth = stand.held || stand.ready < MIN_BACKLOG ? 0 : stand.ready / Math.max(1, previous);
        const detail = `${stand.ready} jobs are waiting in ${stand.queue}, up from ${previous} ${spanOf(RECENT_MINUTES * MINUTE)} ago.`;
        return instance_scopes(stand.queue, growth, detail, '/delivery/backlog?by=destination');
      }),
  },
  one_failure_dominates: {
    title: 'Frequent failure',
    raise: 0.2,
    clear: 0.1,
    for_seconds: 2 * MINUTE,
    clear_seconds: 10 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) =>
      `At least ${percent(raise)} of at least ${MIN_ATTEMPTS} attempts in the last ${spanOf(RECENT_MINUTES * MINUTE)} failed with the same error`,
    measure: (_, { attempts, signature }) => {
      const share = attempts < MIN_ATTEMPTS || !signature ? 0 : signature.count / attempts;
      const detail = `${percent(share)} of attempts in the last ${spanOf(RECENT_MINUTES * MINUTE)} failed with the same error: ${signature?.sample ?? ''}`;
      return instance_scopes('', share, detail.slice(0, 500), '/delivery/incidents');
    },
  },
  provider_defers: {
    title: 'Provider deferring email',
    raise: 0.3,
    clear: 0.15,
    for_seconds: 2 * MINUTE,
    clear_seconds: 10 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) =>
      `A provider deferred at least ${percent(raise)} of at least ${MIN_ATTEMPTS} attempts in the last ${spanOf(RECENT_MINUTES * MINUTE)}`,
    measure: (_, { providers }) =>
      providers.flatMap(({ provider, deferred, attempts }) => {
        const share = attempts < MIN_ATTEMPTS ? 0 : deferred / attempts;
        const name = provider || 'other providers';
        const detail = `${percent(share)} of ${attempts} attempts to ${name} in the last ${spanOf(RECENT_MINUTES * MINUTE)} were deferred.`;
        return instance_scopes(provider, share, detail, '/delivery/backlog?by=provider');
      }),
  },
  dead_jobs_grow: {
    title: 'Dead jobs increasing',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 15 * MINUTE,
    owners: INSTANCE_ONLY,
    condition: () => `A queue has more dead jobs than ${spanOf(RECENT_MINUTES * MINUTE)} earlier`,
    measure: ({ queues }, { before }) =>
      queues.flatMap(({ queue, dead }) => {
        const previous = before.find((one) => one.queue === queue)?.dead ?? dead;
        const page = `/instance/jobs?queue=${queue}&state=dead`;
        return instance_scopes(queue, dead - previous, `${dead} dead jobs in ${queue}, up from ${previous}.`, page);
      }),
  },
  webhook_fails: {
    title: 'Webhook failing',
    raise: FAILING_SECONDS,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    owners: WORKSPACE_ONLY,
    condition: (raise) => `No delivery to a webhook has succeeded for ${spanOf(raise)}`,
    measure: (_, { endpoints }) =>
      endpoints.map(({ workspace_id, subject, value }) => ({
        workspace_id,
        subject,
        value,
        detail: `No delivery to webhook ${subject} has succeeded for ${Math.round(value / MINUTE)} min.`,
        page: `/webhooks/${subject}`,
      })),
  },
  scheduled_late: {
    title: 'Scheduled email late',
    raise: 60,
    clear: 30,
    for_seconds: 30,
    clear_seconds: MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) => `The oldest scheduled email is at least ${spanOf(raise)} late`,
    measure: ({ scheduled_late_seconds: late_seconds }) =>
      instance_scopes(
        '',
        late_seconds,
        `The oldest scheduled email is ${Math.round(late_seconds)} s late.`,
        '/instance/queues',
      ),
  },
  hold_old: {
    title: 'Long-running hold',
    raise: 24,
    clear: 24,
    for_seconds: 0,
    clear_seconds: 0,
    owners: accessScopes,
    condition: (raise) => `A hold has lasted at least ${spanOf(raise * 60 * MINUTE)}`,
    measure: (_, { holds }) =>
      holds.map(({ workspace_id, subject, value, name }) => ({
        workspace_id,
        subject,
        value,
        detail: `${name} has been held for ${Math.round(value)} h.`,
        page: '/delivery/holds',
      })),
  },
  hold_ends: {
    title: 'Hold expiring soon',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    owners: accessScopes,
    condition: () =>
      `A hold that has lasted more than ${spanOf(MIN_HOLD_HOURS * 60 * MINUTE)} expires in less than ${spanOf(HOLD_END_MINUTES * MINUTE)}`,
    measure: (_, { holds }) =>
      holds.map(({ workspace_id, subject, value, left_seconds, name }) => ({
        workspace_id,
        subject,
        value: left_seconds < HOLD_END_MINUTES * MINUTE && value > MIN_HOLD_HOURS ? 1 : 0,
        detail: `The hold on ${name} expires in ${Math.round(left_seconds / 60)} min.`,
        page: '/delivery/holds',
      })),
  },
  domain_regressed: {
    title: 'Domain record missing',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    owners: WORKSPACE_ONLY,
    condition: () => 'A verified domain has lost a DNS record, or can no longer send',
    measure: (_, { domains }) =>
      domains.map(({ workspace_id, subject, value }) => ({
        workspace_id,
        subject,
        value,
        detail: `${subject} ${value > 1 ? 'can no longer send' : 'lost a DNS record and will stop sending'}.`,
        page: `/domains/${subject}`,
      })),
  },
  quota_80: quota('80% of monthly quota used', 0.8),
  quota_95: quota('95% of monthly quota used', 0.95),
  quota_100: quota('Monthly quota used up', 1),
  clock_skew: {
    title: 'Clock skew',
    raise: 5,
    clear: 2,
    for_seconds: MINUTE,
    clear_seconds: MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) => `A process clock differs from the database clock by at least ${spanOf(raise)}`,
    measure: ({ clock_skew_seconds: skew }) =>
      instance_scopes(
        '',
        skew,
        `A process clock differs from the database clock by ${skew.toFixed(1)} s.`,
        '/instance/status',
      ),
  },
  pool_waits: {
    title: 'Transactions waiting for connections',
    raise: 20,
    clear: 5,
    for_seconds: MINUTE,
    clear_seconds: MINUTE,
    owners: INSTANCE_ONLY,
    condition: (raise) => `At least ${raise} transactions in one process are waiting for a database connection`,
    measure: ({ pool_waiting }) =>
      instance_scopes(
        '',
        pool_waiting,
        `${pool_waiting} transactions in one process are waiting for a database connection.`,
        '/instance/status',
      ),
  },
} as const satisfies Readonly<Record<string, Rule>>;

function quota(title: string, raise: number): Rule {
  return {
    title,
    raise,
    clear: raise,
    for_seconds: 0,
    clear_seconds: 0,
    owners: WORKSPACE_ONLY,
    condition: (share) => `At least ${percent(share)} of the monthly quota is used`,
    measure: (_, { quotas }) =>
      quotas.map(({ workspace_id, value }) => ({
        workspace_id,
        subject: '',
        value,
        detail: `${percent(value)} of the monthly quota is used.`,
        page: '/',
      })),
  };
}

export type AlarmRule = keyof typeof alarmRules;
// The cast is safe because the keys of the table are its rules.
export const alarmRuleNames = Object.keys(alarmRules) as [AlarmRule, ...AlarmRule[]];

export function ruleOf(name: AlarmRule): Rule {
  return alarmRules[name];
}

/** Raised by each process from memory. */
export const DATABASE_GONE = 'database_gone';
/** How long the database must not have responded. */
export const DATABASE_GONE_SECONDS = MINUTE;

/** Stands for a rule in test notices. */
export const TEST = 'test';

export const alarmNames: readonly string[] = [...alarmRuleNames, DATABASE_GONE];

/**
 * Returns the title shown to people; the alarm of a lost database has no rule, and an older release may have raised
 * others.
 */
export function titleOf(name: string): string {
  if (name === DATABASE_GONE) return 'Database unreachable';
  if (name === TEST) return 'Alert notifications';
  const rule = alarmRuleNames.find((known) => known === name);
  return rule === undefined ? name : ruleOf(rule).title;
}

/** Returns the rules whose alarms an owner may have, each with its condition in words. */
export function rulesOf(owner: AccessScope): { readonly rule: string; readonly condition: string }[] {
  const own = alarmRuleNames
    .filter((name) => ruleOf(name).owners.includes(owner))
    .map((name) => ({ rule: name, condition: conditionOf(ruleOf(name)) }));
  const gone = `A process has had no response from the database for ${spanOf(DATABASE_GONE_SECONDS)}.`;
  return owner === 'instance' ? [...own, { rule: DATABASE_GONE, condition: gone }] : own;
}

function conditionOf({ condition, raise, for_seconds }: Rule): string {
  return `${condition(raise)}.${for_seconds === 0 ? '' : ` Alerts after ${spanOf(for_seconds)}.`}`;
}
