import { INSTANCE } from '../operation/access.ts';
import type { UserActor } from '../operation/context.ts';
import type { Scope } from '../operation/scopes.ts';

/** The roles of a user in a workspace. */
export const workspaceRoles = ['viewer', 'member', 'admin'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

const roleScopes: Record<WorkspaceRole, readonly Scope[]> = {
  viewer: ['email:logs:read', 'domains:read'],
  member: ['email:logs:read', 'domains:read', 'email:send', 'domains:write', 'webhooks:manage'],
  admin: ['admin'],
};

/** Returns the scopes of a role. An operator administers every workspace. */
export function scopesOf(person: {
  readonly operator: boolean;
  readonly role: WorkspaceRole | null;
}): readonly Scope[] {
  if (person.operator) return ['operator', 'admin'];
  return person.role === null ? [] : roleScopes[person.role];
}

/**
 * Returns the audit chain for a user's actions on their own account: the instance's for an operator, otherwise the
 * workspace's.
 */
export function chainOf(actor: UserActor): string {
  return actor.scopes.includes('operator') ? INSTANCE : actor.workspace_id;
}
