import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { workspaceRoles } from '../roles.ts';
import type { MemberRow } from '../store.ts';

export const roleField = z.enum(workspaceRoles).meta({
  id: 'WorkspaceRole',
  description:
    'viewer: reads email and domains. member: also sends and manages domains and webhooks. admin: full access.',
});

/** Defaults to the caller's workspace. */
export const workspaceField = idField(idPrefixes.workspace)
  .optional()
  .meta({ description: 'Another workspace (operators only).' });

export const memberSchema = z
  .object({
    object: objectName('member'),
    workspace_id: idField(idPrefixes.workspace),
    id: idField(idPrefixes.user).meta({ description: 'The user, who can belong to several workspaces.' }),
    email: z.string(),
    name: z.string().nullable(),
    role: roleField,
    operator: z.boolean().meta({ description: 'Has access to every workspace, regardless of role.' }),
    second_factor: z.boolean().meta({ description: 'Whether signing in takes a code as well.' }),
    created_at: timeField,
  })
  .meta({ id: 'Member' });
export type MemberEntry = z.output<typeof memberSchema>;

export function memberEntry(row: MemberRow): MemberEntry {
  const { workspace_id, id, email, name, role, operator, second_factor } = row;
  const created_at = isoTime(row.created_at);
  return { object: 'member', workspace_id, id, email, name, role, operator, second_factor, created_at };
}

export function memberNotFound(user_id: string): AppError {
  return new AppError('member_not_found', `No member with ID ${user_id.slice(0, 64)} in this workspace.`);
}

export function lastAdmin(): AppError {
  return new AppError('last_admin', 'This is the only workspace admin. Make another member an admin first.');
}
