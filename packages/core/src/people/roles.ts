import type { Scope } from '../api-keys/scopes.ts';
import type { UserActor } from '../context.ts';
import { INSTANCE } from '../reach.ts';

/** What a person may be in a workspace. */
export const workspaceRoles = ['viewer', 'member', 'admin'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

const scopesOfRole: Record<WorkspaceRole, readonly Scope[]> = {
  viewer: ['email:logs:read', 'domains:read'],
  member: ['email:logs:read', 'domains:read', 'email:send', 'domains:write', 'webhooks:manage'],
  admin: ['admin'],
};

/** What somebody may do in a workspace, as the scopes of a key say it. An operator administers every one. */
export function scopesOf(person: {
  readonly operator: boolean;
  readonly role: WorkspaceRole | null;
}): readonly Scope[] {
  if (person.operator) return ['operator', 'admin'];
  return person.role === null ? [] : scopesOfRole[person.role];
}

/** The audit chain that tells of what somebody does about themselves: an operator belongs to the instance. */
export function chainOf(actor: UserActor): string {
  return actor.scopes.includes('operator') ? INSTANCE : actor.workspace_id;
}
