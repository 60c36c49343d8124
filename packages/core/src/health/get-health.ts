import { pendingMigrations, type Sql } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { timeField } from '../fields/wire.ts';
import { INSTANCE, isOperator, ownAccess } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { usageOf } from '../usage/index.ts';
import { activeHolds, type InstanceFacts, instanceFacts, workspaceFacts } from './store.ts';

/** From best to worst. */
export const healthStatuses = ['ok', 'warning', 'failing'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

const LONG_WAIT_SECONDS = 300;
const NEARLY_USED = 0.8;

const checkSchema = z.object({
  name: z.string().meta({ examples: ['delivery'] }),
  status: z.enum(healthStatuses),
  detail: z.string().nullable().meta({ description: 'The finding, if there is a problem.' }),
  advice: z.string().nullable(),
  checked_at: timeField,
});
const healthSchema = z
  .object({
    object: z.literal('health'),
    status: z.enum(healthStatuses).meta({ description: 'The worst status among all checks.' }),
    checks: z.array(checkSchema).readonly(),
  })
  .meta({ id: 'Health' });
export type Health = z.output<typeof healthSchema>;

interface HealthFinding {
  readonly name: string;
  readonly status: HealthStatus;
  readonly detail?: string;
  readonly advice?: string;
  /** Time of the last check, for cached results. */
  readonly checked_at?: Date;
}

/**
 * Returns whether email is being sent and which problems in the caller's workspace need attention; operators also see
 * the dead jobs of all queues.
 */
export const getHealth = operation({
  name: 'health.get',
  // ownAccess checks the scope: admin for the caller's workspace, operator for the instance.
  scope: null,
  summary: 'Whether email is being sent, and what needs attention',
  input: z.object({}),
  output: healthSchema,
  async run(ctx): Promise<Health> {
    const { actor, sql } = ctx;
    const sides = ownAccess(actor);
    const own = sides.includes(actor.workspace_id);
    const [pending, facts, holds, workspace] = await Promise.all([
      pendingMigrations(sql),
      instanceFacts(sql),
      activeHolds(sql, [...new Set([INSTANCE, ...sides])]),
      own ? ofWorkspace(sql, actor.workspace_id) : [],
    ]);
    const holds_finding: HealthFinding =
      holds.count === 0
        ? { name: 'holds', status: 'ok' }
        : {
            name: 'holds',
            status: 'warning',
            detail: `${holds.count} ${holds.count === 1 ? 'hold is' : 'holds are'} active. The first expires at ${isoTime(holds.first_end ?? facts.now)}.`,
            advice: 'Release holds that are no longer needed.',
          };
    const results: HealthFinding[] = [
      pending.length === 0
        ? { name: 'database', status: 'ok' }
        : {
            name: 'database',
            status: 'failing',
            detail: `Pending migrations: ${pending.join(', ')}.`,
            advice: 'Run npx postrider migrate.',
          },
      delivery(facts),
      line(facts),
      holds_finding,
      ...(isOperator(actor) ? [dead(facts)] : []),
      ...workspace,
    ];
    const checks = results.map(({ name, status, detail = null, advice = null, checked_at = facts.now }) => ({
      name,
      status,
      detail,
      advice,
      checked_at: isoTime(checked_at),
    }));
    return { object: 'health', status: worst(checks.map(({ status }) => status)), checks };
  },
});

function worst(all: readonly HealthStatus[]): HealthStatus {
  return healthStatuses[Math.max(...all.map((status) => healthStatuses.indexOf(status)))] ?? 'ok';
}

function delivery({ worker_there, worker_seen }: InstanceFacts): HealthFinding {
  if (worker_there) return { name: 'delivery', status: 'ok' };
  const since = worker_seen ? `Last worker heartbeat: ${isoTime(worker_seen)}.` : 'No worker has run yet.';
  return { name: 'delivery', status: 'failing', detail: since, advice: 'Start a process with worker in ROLES.' };
}

function line({ oldest_ready_seconds, measured_at, mail_held, now }: InstanceFacts): HealthFinding {
  const measured = { name: 'line', checked_at: measured_at ?? now };
  if (oldest_ready_seconds === null || oldest_ready_seconds <= LONG_WAIT_SECONDS || mail_held)
    return { ...measured, status: 'ok' };
  return {
    ...measured,
    status: 'warning',
    detail: `Due email has been waiting for ${Math.round(oldest_ready_seconds)} s.`,
    advice: 'Check the backlog. If no destination is throttled and nothing is held, start another worker.',
  };
}

function dead({ dead, queues_with_dead, measured_at, now }: InstanceFacts): HealthFinding {
  const measured = { name: 'dead_jobs', checked_at: measured_at ?? now };
  if (dead === 0) return { ...measured, status: 'ok' };
  return {
    ...measured,
    status: 'warning',
    detail: `${dead} ${dead === 1 ? 'job is' : 'jobs are'} dead in ${queues_with_dead.join(', ')}.`,
    advice: 'Check why they failed, then retry or cancel them.',
  };
}

async function ofWorkspace(sql: Sql, workspace_id: string): Promise<HealthFinding[]> {
  const [facts, usage] = await Promise.all([workspaceFacts(sql, workspace_id), usageOf({ sql }, workspace_id)]);
  const { broken_domains, shaky_domains, disabled_webhooks, failing_webhooks } = facts;
  return [
    checkOf('domains', [
      ['failing', broken_domains, 'Cannot send', 'Publish their DNS records again, then verify them.'],
      ['warning', shaky_domains, 'About to fail', 'A DNS record is missing. Publish it again within 72 hours.'],
    ]),
    checkOf('webhooks', [
      [
        'failing',
        disabled_webhooks,
        'Disabled after failures',
        'Fix the endpoint, enable it and recover failed deliveries.',
      ],
      ['warning', failing_webhooks, 'No delivery succeeded for ten minutes', 'Check their deliveries.'],
    ]),
    quota(usage),
  ];
}

function checkOf(
  name: string,
  kinds: readonly (readonly [HealthStatus, readonly string[], string, string])[],
): HealthFinding {
  for (const [status, names, words, advice] of kinds) {
    if (names.length > 0) return { name, status, detail: `${words}: ${names.join(', ')}.`, advice };
  }
  return { name, status: 'ok' };
}

function quota({
  used,
  limit,
  resets_at,
}: {
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}): HealthFinding {
  if (limit === null || used < limit * NEARLY_USED) return { name: 'quota', status: 'ok' };
  return {
    name: 'quota',
    status: used >= limit ? 'failing' : 'warning',
    detail: `${used} of ${limit} emails used this month. Resets at ${resets_at}.`,
    advice: 'Ask an operator for a larger plan.',
  };
}
