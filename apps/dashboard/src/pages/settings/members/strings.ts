export const words = {
  title: 'Members',
  answer: (count: number, admins: number, has_more: boolean) =>
    `${count}${has_more ? ' or more' : ''} ${count === 1 ? 'member' : 'members'}, ${admins} ${admins === 1 ? 'admin' : 'admins'}`,
  none: 'Only operators have access.',
  empty: {
    title: 'Invite your team',
    about:
      'Viewers can view email and domains. Members can also send email and manage domains and webhooks. Admins have full access. Operators can access every workspace.',
  },
  invite: 'Invite member',
  columns: { email: 'Email', role: 'Role', operator: 'Instance', since: 'Joined' },
  roles: {
    viewer: ['Viewer', 'Can view email and domains.'],
    member: ['Member', 'Can also send email and manage domains and webhooks.'],
    admin: ['Admin', 'Full access, including email content.'],
  },
  operator: 'Operator',
  actions: (email: string) => `Actions for ${email}`,
  makeRole: (role: string) => `Change role to ${role}`,
  remove: 'Remove',
  fresh: (count: number) => `${count} new`,
  changed: (email: string, role: string) => `Role of ${email} changed to ${role}. They need to sign in again.`,
  inviting: {
    title: 'Invite member',
    email: 'Email address',
    role: 'Role',
    submit: 'Invite member',
  },
  secret: {
    title: (email: string) => `${email} invited`,
    known: 'This person signs in with their existing account.',
    once: 'Share this one-time sign-in link. You won’t be able to see it again.',
    until: 'Expires',
    password: 'Share this password. You won’t be able to see it again.',
    stored: 'I’ve shared it',
    guard: 'Share it first. You won’t be able to see it again.',
    done: 'Done',
  },
  removing: {
    title: (email: string) => `Remove ${email}?`,
    about: 'They’re signed out of this workspace immediately. API keys they created keep working.',
    keep: 'Keep member',
    submit: 'Remove member',
    done: (email: string) => `${email} removed`,
  },
};
