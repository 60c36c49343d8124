export const words = {
  rolesWith: {
    'email:logs:read': 'a viewer',
    'domains:read': 'a viewer',
    'email:send': 'a member',
    'domains:write': 'a member',
    'webhooks:manage': 'a member',
    admin: 'an admin',
    operator: 'an operator',
  },
  refusal: (who: string, location: string, role: string) =>
    `Only ${who} ${location} can do this. You are ${role === 'admin' ? 'an' : 'a'} ${role}.`,
  instance: 'of this instance',
  workspace: (name: string | undefined) => `of ${name ?? 'this workspace'}`,
  invalid: 'Invalid form',
  silent: 'Postrider is not responding. Retrying automatically.',
  silentForm: 'Postrider is not responding. Try again.',
  failed: (status: number) => `Postrider returned ${status}. Try again.`,
};
