import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { limitFields, type PlanEntry, planEntry, planSchema } from './plan-entry.ts';
import { insertPlan } from './plan-store.ts';

const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;

export const createPlan = operation({
  name: 'plans.create',
  scope: 'operator',
  summary: 'Create a plan',
  input: z.object({
    name: z
      .string()
      .regex(NAME, 'must be 1 to 40 characters of a-z, 0-9, _ and -')
      .meta({ examples: ['growth'] }),
    monthly_emails: limitFields.monthly_emails.default(null),
    recipients_per_request: limitFields.recipients_per_request,
    send_per_minute: limitFields.send_per_minute.default(1000),
    logs_per_minute: limitFields.logs_per_minute.default(60),
    default_per_minute: limitFields.default_per_minute.default(120),
    sandbox_logs_per_minute: limitFields.sandbox_logs_per_minute.default(600),
    sandbox_default_per_minute: limitFields.sandbox_default_per_minute.default(1200),
    workspace_rate: limitFields.workspace_rate.default(null),
    api_key_limit: limitFields.api_key_limit.default(null),
    domain_limit: limitFields.domain_limit.default(null),
    webhook_limit: limitFields.webhook_limit.default(null),
    member_limit: limitFields.member_limit.default(null),
    // A transport connects to a server that a customer names, so an operator decides who may have one.
    transport_limit: limitFields.transport_limit.default(0),
    capture_bytes_limit: limitFields.capture_bytes_limit.default(null),
  }),
  output: planSchema,
  run: (ctx, plan): Promise<PlanEntry> =>
    ctx.sql.begin(async (tx) => {
      const row = await insertPlan(tx, plan);
      if (!row)
        throw new AppError('plan_exists', `Plan ${plan.name} already exists. Update it or choose another name.`);
      const { name, ...diff } = plan;
      await recordAudit(tx, ctx, [{ action: 'plan.created', target_id: name, diff, workspace_id: INSTANCE }]);
      return planEntry(row);
    }),
});
