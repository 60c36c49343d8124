import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { invitedRoles } from './invited-roles.ts';
import type { InvitationRow } from './store.ts';

/** What is invited to: a workspace, or the instance as an operator. */
export const invitationTargetField = z.enum(['workspace', 'instance']).default('workspace');

export const invitationSchema = z.object({
  object: objectName('invitation'),
  id: idField(idPrefixes.invitation),
  email: z.string(),
  role: z.enum(invitedRoles),
  invited_by: z.string(),
  created_at: timeField,
  expires_at: timeField,
});
export type InvitationEntry = z.output<typeof invitationSchema>;

export const deliverySchema = z.object({
  email: z.string(),
  sent: z.enum(['emailed', 'captured', 'unsent']),
  url: z.string().nullable().meta({ description: 'Only if the link was not emailed. Works once, only returned here.' }),
});

export function invitationEntry(row: InvitationRow): InvitationEntry {
  const { id, email, role, invited_by, created_at, expires_at } = row;
  return {
    object: 'invitation',
    id,
    email,
    role,
    invited_by,
    created_at: isoTime(created_at),
    expires_at: isoTime(expires_at),
  };
}

export function invitationNotFound(id: string): AppError {
  return new AppError('invitation_not_found', `No pending invitation with ID ${id.slice(0, 64)}.`);
}
