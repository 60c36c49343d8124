import type { Sql, Tx } from '@postrider/db';
import { z } from 'zod';
import { AppError, type Reason } from '../operation/errors.ts';
import { countOf, type LimitedResource, lockPlanOf, planUses } from './plan-limits-store.ts';

const useSchema = z.object({
  used: z.int().meta({ description: 'Current use, in the unit of the limit.' }),
  limit: z.int().nullable().meta({ description: 'null: no limit.' }),
});

export const planUseSchema = z
  .object({
    api_keys: useSchema.meta({ description: 'Active live and sandbox keys.' }),
    domains: useSchema.meta({ description: 'Not counting the sandbox domain.' }),
    webhooks: useSchema.meta({ description: 'Live and sandbox webhooks.' }),
    members: useSchema.meta({ description: 'Not counting pending invitations.' }),
    transports: useSchema.meta({ description: "The workspace's own transports." }),
    workspace_rate: useSchema.meta({
      description: 'Requests from all API keys this minute. Not counted if there is no limit.',
    }),
    capture_bytes: useSchema.meta({ description: 'Above the limit, the oldest captured email is deleted.' }),
  })
  .meta({ id: 'PlanUse', description: 'Current use of the resources that the plan limits.' });
export type PlanUse = z.output<typeof planUseSchema>;

const limits = {
  api_keys: { reason: 'key_limit', noun: 'active API keys', remedy: 'Revoke unused keys' },
  domains: { reason: 'domain_limit', noun: 'domains', remedy: 'Remove a domain' },
  webhooks: { reason: 'webhook_limit', noun: 'webhooks', remedy: 'Delete a webhook' },
  members: { reason: 'member_limit', noun: 'members', remedy: 'Remove a member' },
  transports: { reason: 'transport_limit', noun: 'transports', remedy: 'Delete a transport' },
} as const satisfies Record<
  LimitedResource,
  { readonly reason: Reason; readonly noun: string; readonly remedy: string }
>;

/**
 * Throws if the plan has no room. Locks the workspace until the commit, so that concurrent requests cannot both take
 * the last slot.
 */
export async function requireRoomInPlan(tx: Tx, workspace_id: string, resource: LimitedResource): Promise<void> {
  const { plan, limit } = await lockPlanOf(tx, workspace_id, resource);
  if (limit === null) return;
  const used = await countOf(tx, workspace_id, resource);
  if (used < limit) return;
  const { reason, noun, remedy } = limits[resource];
  throw new AppError(
    reason,
    `The plan ${plan} allows ${limit} ${noun}. ${remedy}, or ask the operator for another plan.`,
    {
      extra: { limit, used },
    },
  );
}

/** Returns plan usage by workspace. */
export async function planUseOf(
  sql: Sql | Tx,
  workspace_ids: readonly string[],
): Promise<ReadonlyMap<string, PlanUse>> {
  const rows = await planUses(sql, workspace_ids);
  return new Map(
    rows.map((row) => [
      row.workspace_id,
      {
        api_keys: { used: row.api_keys, limit: row.key_limit },
        domains: { used: row.domains, limit: row.domain_limit },
        webhooks: { used: row.webhooks, limit: row.webhook_limit },
        members: { used: row.members, limit: row.member_limit },
        transports: { used: row.transports, limit: row.transport_limit },
        workspace_rate: { used: row.minute_requests, limit: row.workspace_rate },
        capture_bytes: { used: row.capture_bytes, limit: row.capture_bytes_limit },
      },
    ]),
  );
}
