import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { planEntry, planSchema } from './plan-entry.ts';
import type { WorkspaceRow } from './store.ts';

export const unknownPolicies = ['resend', 'stop'] as const;

export const nameField = z.string().trim().min(1).max(100);
export const policyField = z.enum(unknownPolicies).meta({
  description:
    'Policy for an email that the server had not confirmed when the connection dropped. resend: send it again, so it may arrive twice. stop: mark it as failed, although it may have arrived.',
});

export const workspaceSchema = z
  .object({
    object: objectName('workspace'),
    id: idField(idPrefixes.workspace),
    name: z.string(),
    plan: planSchema,
    unknown_policy: policyField,
    created_at: timeField,
  })
  .meta({ id: 'Workspace' });
export type WorkspaceEntry = z.output<typeof workspaceSchema>;

export function workspaceEntry({
  id,
  workspace_name,
  unknown_policy,
  created_at,
  ...plan
}: WorkspaceRow): WorkspaceEntry {
  return {
    object: 'workspace',
    id,
    name: workspace_name,
    plan: planEntry(plan),
    unknown_policy,
    created_at: isoTime(created_at),
  };
}
