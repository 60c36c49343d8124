import { invoke, type Operation } from '@postrider/core';
import { createPlan, deletePlan, listPlans, type PlanEntry, updatePlan } from '@postrider/core/workspaces';
import { type Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { withMachine } from '../connect/machine.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';

interface LimitOptions {
  readonly monthly?: number | 'none';
  readonly recipients?: number;
  readonly sendPerMinute?: number;
  readonly logsPerMinute?: number;
  readonly otherPerMinute?: number;
  readonly reason?: string;
  readonly json?: boolean;
}

export function addPlans(program: Command, terminal: Terminal): void {
  const plans = program.command('plans').description('on the machine itself: plans and their limits');
  const run = <I extends z.ZodType, O>(operation: Operation<I, O>, input: unknown): Promise<O> =>
    withMachine(terminal, async (machine) => invoke(await machine.asWorkspace(), operation, input));
  const withLimits = (command: Command) =>
    command
      .option('--monthly <count>', 'mails of a calendar month, or none for no limit', monthly)
      .option('--recipients <count>', 'recipients of one mail', count)
      .option('--send-per-minute <count>', 'requests of one key that send', count)
      .option('--logs-per-minute <count>', 'requests of one key that read logs', count)
      .option('--other-per-minute <count>', 'all other requests of one key', count)
      .option('--json', 'print JSON');
  plans
    .command('list')
    .description('by name')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const found = await run(listPlans, {});
      show(terminal, json, found, () => table(found.data.map(rowOf)));
    });
  withLimits(plans.command('create <name>').description('create a plan; --recipients is required')).action(
    async (name: string, options: LimitOptions) => {
      const made = await run(createPlan, { name, ...limitsOf(options) });
      show(terminal, options.json, made, () => table([rowOf(made)]));
    },
  );
  withLimits(plans.command('update <name>').description('change limits, from the next request of every workspace on'))
    .option('--reason <text>', 'for the audit log')
    .action(async (name: string, options: LimitOptions) => {
      const changed = await run(updatePlan, { name, ...limitsOf(options), reason: options.reason });
      show(terminal, options.json, changed, () => table([rowOf(changed)]));
    });
  plans
    .command('delete <name>')
    .description('delete a plan that no workspace is on')
    .option('--json', 'print JSON')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const gone = await run(deletePlan, { name });
      show(terminal, json, gone, () => `${gone.name} is deleted`);
    });
}

function limitsOf({ monthly, recipients, sendPerMinute, logsPerMinute, otherPerMinute }: LimitOptions) {
  return {
    monthly_emails: monthly === 'none' ? null : monthly,
    recipients_per_request: recipients,
    send_per_minute: sendPerMinute,
    logs_per_minute: logsPerMinute,
    default_per_minute: otherPerMinute,
  };
}

function rowOf(plan: PlanEntry): string[] {
  return [
    plan.name,
    plan.monthly_emails === null ? 'no monthly limit' : `${plan.monthly_emails} a month`,
    `${plan.recipients_per_request} recipients`,
    `${plan.send_per_minute} sends, ${plan.logs_per_minute} log requests, ${plan.default_per_minute} others a minute`,
  ];
}

function monthly(text: string): number | 'none' {
  return text === 'none' ? text : count(text);
}

function count(text: string): number {
  if (!/^\d{1,13}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
