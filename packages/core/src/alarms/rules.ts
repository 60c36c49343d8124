import type { InstanceNumbers } from '../metrics/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { AlarmFacts } from './facts-store.ts';

/** A number that a rule judges, and what it is about. */
export interface Measured {
  readonly workspace_id: string;
  readonly subject: string;
  readonly value: number;
  readonly detail: string;
  readonly page: string;
}

interface Rule {
  readonly title: string;
  /** The alarm is raised from this value on, and ends below the other one. */
  readonly raise: number;
  readonly clear: number;
  readonly for_seconds: number;
  readonly clear_seconds: number;
  measure(numbers: InstanceNumbers, facts: AlarmFacts): readonly Measured[];
}

const MINUTE = 60;
// Shares of fewer say nothing.
const LEAST_ATTEMPTS = 50;
// The share of first attempts that may come later than a minute.
const BUDGET = 0.01;
const percent = (share: number) => `${Math.round(share * 100)} %`;
const ofInstance = (subject: string, value: number, detail: string, page: string): Measured[] => [
  { workspace_id: INSTANCE, subject, value, detail, page },
];
const waiting = ({ ready, parked }: InstanceNumbers['queues'][number]) => ready + parked;

function burn(late: number, all: number, hours: string): Measured[] {
  const rate = all < LEAST_ATTEMPTS ? 0 : late / all / BUDGET;
  const detail = `${late} of ${all} mails of the last ${hours} had their first attempt later than a minute.`;
  return ofInstance('', rate, detail, '/operations/queues');
}

/** Every alarm there is. Values between clear and raise keep an alarm as it is. */
export const alarmRules = {
  first_attempt_slow_1h: {
    title: 'First attempts are late (1 h)',
    raise: 14.4,
    clear: 7,
    for_seconds: 2 * MINUTE,
    clear_seconds: 5 * MINUTE,
    measure: (_, { first_attempts: { late_1h, all_1h } }) => burn(late_1h, all_1h, 'hour'),
  },
  first_attempt_slow_6h: {
    title: 'First attempts are late (6 h)',
    raise: 6,
    clear: 3,
    for_seconds: 15 * MINUTE,
    clear_seconds: 15 * MINUTE,
    measure: (_, { first_attempts: { late_6h, all_6h } }) => burn(late_6h, all_6h, 'six hours'),
  },
  queue_waits: {
    title: 'A queue waits',
    raise: 300,
    clear: 120,
    for_seconds: MINUTE,
    clear_seconds: 2 * MINUTE,
    measure: ({ queues }) =>
      queues.flatMap(({ queue, oldest_ready_seconds, held }) =>
        ofInstance(
          queue,
          held ? 0 : (oldest_ready_seconds ?? 0),
          `The oldest job of ${queue} that could run has waited for ${Math.round(oldest_ready_seconds ?? 0)} s.`,
          '/operations/queues',
        ),
      ),
  },
  no_worker: {
    title: 'No live worker',
    raise: 1,
    clear: 1,
    for_seconds: 30,
    clear_seconds: 0,
    measure: ({ roles, queues }) => {
      const live = roles.find(({ role }) => role === 'worker')?.live ?? 0;
      const due = queues.reduce((sum, stand) => sum + waiting(stand) + stand.active, 0);
      const detail = `No process with the role worker is live, and ${due} jobs wait.`;
      return ofInstance('', live === 0 && due > 0 ? 1 : 0, detail, '/operations/workers');
    },
  },
  backlog_grows: {
    title: 'The backlog grows',
    raise: 1.2,
    clear: 1,
    for_seconds: 15 * MINUTE,
    clear_seconds: 5 * MINUTE,
    measure: ({ queues }, { before }) =>
      queues.flatMap((stand) => {
        const then = before.find(({ queue }) => queue === stand.queue)?.waiting ?? waiting(stand);
        const growth = waiting(stand) < 1000 ? 0 : waiting(stand) / Math.max(1, then);
        const detail = `${waiting(stand)} jobs of ${stand.queue} wait; ${then} did a quarter of an hour ago.`;
        return ofInstance(stand.queue, growth, detail, '/operations/backlog?by=destination&reach=instance');
      }),
  },
  one_failure_dominates: {
    title: 'One failure dominates',
    raise: 0.2,
    clear: 0.1,
    for_seconds: 2 * MINUTE,
    clear_seconds: 10 * MINUTE,
    measure: (_, { attempts, signature }) => {
      const share = attempts < LEAST_ATTEMPTS || !signature ? 0 : signature.count / attempts;
      const detail = `${percent(share)} of the attempts of a quarter of an hour failed alike: ${signature?.sample ?? ''}`;
      return ofInstance('', share, detail.slice(0, 500), '/operations/incident');
    },
  },
  provider_defers: {
    title: 'A provider defers mail',
    raise: 0.3,
    clear: 0.15,
    for_seconds: 2 * MINUTE,
    clear_seconds: 10 * MINUTE,
    measure: (_, { providers }) =>
      providers.flatMap(({ provider, deferred, attempts }) => {
        const share = attempts < LEAST_ATTEMPTS ? 0 : deferred / attempts;
        const name = provider || 'other providers';
        const detail = `${percent(share)} of ${attempts} attempts to ${name} in a quarter of an hour were deferred.`;
        return ofInstance(provider, share, detail, '/operations/backlog?by=provider&reach=instance');
      }),
  },
  dead_jobs_grow: {
    title: 'Dead jobs grow',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 15 * MINUTE,
    measure: ({ queues }, { before }) =>
      queues.flatMap(({ queue, dead }) => {
        const then = before.find((one) => one.queue === queue)?.dead ?? dead;
        const page = `/operations/jobs?queue=${queue}&state=dead`;
        return ofInstance(queue, dead - then, `${dead} jobs of ${queue} are dead; ${then} were.`, page);
      }),
  },
  webhook_fails: {
    title: 'A webhook fails',
    raise: 3600,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    measure: (_, { endpoints }) =>
      endpoints.map(({ workspace_id, subject, value }) => ({
        workspace_id,
        subject,
        value,
        detail: `The endpoint ${subject} has failed for ${Math.round(value / 3600)} h.`,
        page: `/webhooks/${subject}`,
      })),
  },
  scheduled_late: {
    title: 'Scheduled mail is late',
    raise: 60,
    clear: 30,
    for_seconds: 30,
    clear_seconds: MINUTE,
    measure: ({ scheduled_late_seconds: late }) =>
      ofInstance('', late, `The oldest scheduled mail is ${Math.round(late)} s late.`, '/emails?q=status:scheduled'),
  },
  hold_old: {
    title: 'A hold is old',
    raise: 24,
    clear: 24,
    for_seconds: 0,
    clear_seconds: 0,
    measure: (_, { holds }) =>
      holds.map(({ workspace_id, subject, value, name }) => ({
        workspace_id,
        subject,
        value,
        detail: `The hold of ${name} lasts for ${Math.round(value)} h.`,
        page: '/operations/holds',
      })),
  },
  hold_ends: {
    title: 'A hold ends soon',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    measure: (_, { holds }) =>
      holds.map(({ workspace_id, subject, value, left_seconds, name }) => ({
        workspace_id,
        subject,
        // A hold that was made for less is not worth a notice.
        value: left_seconds < 15 * MINUTE && value > 1 ? 1 : 0,
        detail: `The hold of ${name} ends in ${Math.round(left_seconds / 60)} min.`,
        page: '/operations/holds',
      })),
  },
  domain_regressed: {
    title: 'A domain lost a record',
    raise: 1,
    clear: 1,
    for_seconds: 0,
    clear_seconds: 0,
    measure: (_, { domains }) =>
      domains.map(({ workspace_id, subject, value }) => ({
        workspace_id,
        subject,
        value,
        detail: `${subject} ${value > 1 ? 'cannot send any more' : 'has lost a record and will stop sending'}.`,
        page: `/domains/${subject}`,
      })),
  },
  quota_80: quota('80 % of the month are used', 0.8),
  quota_95: quota('95 % of the month are used', 0.95),
  quota_100: quota('The month is used up', 1),
  clock_skew: {
    title: 'Clocks differ',
    raise: 5,
    clear: 2,
    for_seconds: MINUTE,
    clear_seconds: MINUTE,
    measure: ({ clock_skew_seconds: skew }) =>
      ofInstance(
        '',
        skew,
        `The clock of a process differs from that of the database by ${skew.toFixed(1)} s.`,
        '/operations/health',
      ),
  },
  pool_waits: {
    title: 'Transactions wait for a connection',
    raise: 20,
    clear: 5,
    for_seconds: MINUTE,
    clear_seconds: MINUTE,
    measure: ({ pool_waiting }) =>
      ofInstance(
        '',
        pool_waiting,
        `${pool_waiting} transactions of a process wait for a connection.`,
        '/operations/health',
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
    measure: (_, { quotas }) =>
      quotas.map(({ workspace_id, value }) => ({
        workspace_id,
        subject: '',
        value,
        detail: `${percent(value)} of the monthly volume are used.`,
        page: '/',
      })),
  };
}

export type AlarmRule = keyof typeof alarmRules;
// The keys of the table are its rules.
export const alarmRuleNames = Object.keys(alarmRules) as [AlarmRule, ...AlarmRule[]];

export function ruleOf(name: AlarmRule): Rule {
  return alarmRules[name];
}

/** Raised by each process from memory. */
export const DATABASE_GONE = 'database_gone';

export const alarmNames: readonly string[] = [...alarmRuleNames, DATABASE_GONE];

/** What people read; the alarm of a lost database has no rule, and an old release may have raised others. */
export function titleOf(name: string): string {
  if (name === DATABASE_GONE) return 'The database is gone';
  const rule = alarmRuleNames.find((known) => known === name);
  return rule === undefined ? name : ruleOf(rule).title;
}
