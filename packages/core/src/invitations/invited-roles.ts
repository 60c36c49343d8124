import { workspaceRoles } from '../people/index.ts';

export const invitedRoles = [...workspaceRoles, 'operator'] as const;
export type InvitedRole = (typeof invitedRoles)[number];
