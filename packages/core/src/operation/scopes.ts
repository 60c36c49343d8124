/** Five scopes for integrators, then workspace and instance administration. */
export const scopes = [
  'email:send',
  'email:logs:read',
  'domains:read',
  'domains:write',
  'webhooks:manage',
  'admin',
  'operator',
] as const;
export type Scope = (typeof scopes)[number];

/**
 * Returns whether the scopes include the one needed. admin covers the whole workspace; operator covers the instance and
 * nothing inside a workspace.
 */
export function hasScope(held: readonly Scope[], needed: Scope): boolean {
  return held.includes(needed) || (needed !== 'operator' && held.includes('admin'));
}
