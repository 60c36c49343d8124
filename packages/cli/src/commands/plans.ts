import type { PlanEntry } from '@postrider/core/workspaces';
import { type Command, InvalidArgumentError } from 'commander';
import { graphql, mutation, query, select } from '../connect/graphql.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';

interface LimitOptions {
  readonly monthly?: number | 'none';
  readonly recipients?: number;
  readonly sendPerMinute?: number;
  readonly logsPerMinute?: number;
  readonly otherPerMinute?: number;
  readonly sandboxLogsPerMinute?: number;
  readonly sandboxOtherPerMinute?: number;
  readonly workspaceRate?: number | 'none';
  readonly apiKeys?: number | 'none';
  readonly domains?: number | 'none';
  readonly webhooks?: number | 'none';
  readonly members?: number | 'none';
  readonly transports?: number | 'none';
  readonly captureBytes?: number | 'none';
  readonly reason?: string;
  readonly json?: boolean;
}

export function addPlans(program: Command, terminal: Terminal): void {
  const plans = program.command('plans').description('plans and their limits, for operators');
  const set = async (change: typeof planUpdate, input: Readonly<Record<string, unknown>>): Promise<PlanEntry> =>
    planOf((await graphql(terminal, change, { input })).plan);
  const withLimits = (command: Command) =>
    command
      .option('--monthly <count>', 'emails per calendar month, or none for no limit', countOrNone)
      .option('--recipients <count>', 'recipients per email', count)
      .option('--send-per-minute <count>', 'send requests per minute, per key', count)
      .option('--logs-per-minute <count>', 'log requests per minute, per key', count)
      .option('--other-per-minute <count>', 'other requests per minute, per key', count)
      .option('--sandbox-logs-per-minute <count>', 'log requests per minute, per sandbox key', count)
      .option('--sandbox-other-per-minute <count>', 'other requests per minute, per sandbox key', count)
      .option('--workspace-rate <count>', 'requests per minute across all keys in a workspace, or none', countOrNone)
      .option('--api-keys <count>', 'active API keys per workspace, or none for no limit', countOrNone)
      .option('--domains <count>', 'domains per workspace, or none', countOrNone)
      .option('--webhooks <count>', 'webhooks per workspace, or none', countOrNone)
      .option('--members <count>', 'members per workspace, or none', countOrNone)
      .option('--transports <count>', "transports of a workspace's own, or none for no limit", countOrNone)
      .option('--capture-bytes <count>', 'bytes of captured email per workspace, or none', countOrNone)
      .option('--json', 'print JSON');
  plans
    .command('list')
    .description('list plans, sorted by name')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const data = (await graphql(terminal, allPlans, {})).map(planOf);
      show(terminal, json, { object: 'list', data }, () => table(data.map(rowOf)));
    });
  withLimits(plans.command('create <name>').description('create a plan; --recipients is required')).action(
    async (name: string, options: LimitOptions) => {
      const plan = await set(planCreate, { name, ...limitsOf(options) });
      show(terminal, options.json, plan, () => table([rowOf(plan)]));
    },
  );
  withLimits(
    plans
      .command('update <name>')
      .description('change limits, effective on the next request from each workspace on the plan'),
  )
    .option('--reason <text>', 'reason for the audit log')
    .action(async (name: string, options: LimitOptions) => {
      const changed = await set(planUpdate, { name, ...limitsOf(options), reason: options.reason });
      show(terminal, options.json, changed, () => table([rowOf(changed)]));
    });
  plans
    .command('delete <name>')
    .description('delete a plan that no workspace uses')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (name: string, { json, yes }: { json?: boolean; yes?: boolean }) => {
      await confirm(terminal, { preview: `Plan ${name} would be deleted.`, count: 1, yes });
      await graphql(terminal, planDelete, { input: { name } });
      show(terminal, json, { object: 'plan', name, deleted: true }, () => `Deleted plan ${name}`);
    });
}

function limitsOf(options: LimitOptions) {
  const { monthly, recipients, sendPerMinute, logsPerMinute, otherPerMinute } = options;
  const orNull = (limit: number | 'none' | undefined) => (limit === 'none' ? null : limit);
  return {
    monthlyEmails: orNull(monthly),
    maxRecipientsPerRequest: recipients,
    sendPerMinute,
    logsPerMinute,
    otherPerMinute,
    sandboxLogsPerMinute: options.sandboxLogsPerMinute,
    sandboxOtherPerMinute: options.sandboxOtherPerMinute,
    workspaceRate: orNull(options.workspaceRate),
    apiKeyLimit: orNull(options.apiKeys),
    domainLimit: orNull(options.domains),
    webhookLimit: orNull(options.webhooks),
    memberLimit: orNull(options.members),
    transportLimit: orNull(options.transports),
    captureBytesLimit: orNull(options.captureBytes),
  };
}

export const PLAN =
  'name monthlyEmails maxRecipientsPerRequest sendPerMinute logsPerMinute otherPerMinute ' +
  'sandboxLogsPerMinute sandboxOtherPerMinute workspaceRate apiKeyLimit domainLimit webhookLimit memberLimit transportLimit captureBytesLimit';
const PAYLOAD = select<{ plan: PlanEntry }>(`... on PlanPayload { plan { ${PLAN} } }`);
const allPlans = query('plans', {}, select<readonly PlanEntry[]>(PLAN));
const planCreate = mutation('planCreate', 'PlanLimitsInput', PAYLOAD);
const planUpdate = mutation('planUpdate', 'PlanLimitsInput', PAYLOAD);
const planDelete = mutation('planDelete', 'PlanDeleteInput', select('... on DeletePayload { deletedId }'));

export function planOf(plan: PlanEntry): PlanEntry {
  return { ...plan, object: 'plan' };
}

function rowOf(plan: PlanEntry): string[] {
  return [
    plan.name,
    plan.monthly_emails === null ? 'no monthly limit' : `${plan.monthly_emails} a month`,
    `${plan.recipients_per_request} recipients`,
    `${plan.send_per_minute} sends, ${plan.logs_per_minute} log requests, ${plan.default_per_minute} other requests per minute`,
    `sandbox: ${plan.sandbox_logs_per_minute} log requests, ${plan.sandbox_default_per_minute} other requests per minute`,
    heldIn(plan),
  ];
}

/** Lists the limits that the plan sets. */
function heldIn(plan: PlanEntry): string {
  const limits = [
    [plan.workspace_rate, 'requests per minute across all API keys'],
    [plan.api_key_limit, 'API keys'],
    [plan.domain_limit, 'domains'],
    [plan.webhook_limit, 'webhooks'],
    [plan.member_limit, 'members'],
    [plan.transport_limit, 'own transports'],
    [plan.capture_bytes_limit, 'bytes of captured email'],
  ] as const;
  return limits.flatMap(([limit, noun]) => (limit === null ? [] : [`${limit} ${noun}`])).join(', ');
}

function countOrNone(text: string): number | 'none' {
  return text === 'none' ? text : count(text);
}

function count(text: string): number {
  if (!/^\d{1,13}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
