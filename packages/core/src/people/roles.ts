import type { Scope } from '../api-keys/scopes.ts';

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
