export const words = {
  title: 'Members',
  answer: (count: number, admins: number, more: boolean) =>
    `${count}${more ? ' or more' : ''} ${count === 1 ? 'person has' : 'people have'} access, ${admins} of them as ${admins === 1 ? 'admin' : 'admins'}.`,
  none: 'Only operators of the instance have access yet.',
  empty: {
    title: 'Invite the first person',
    about:
      'A viewer reads, a member also sends and manages domains and webhooks, an admin does everything. Operators act in every workspace without being a member.',
  },
  denied: 'Only an admin of the workspace sees who its members are.',
  invite: 'Invite',
  columns: { email: 'Person', role: 'Role', operator: 'Instance', since: 'Since' },
  roles: {
    viewer: ['Viewer', 'Reads mail and domains.'],
    member: ['Member', 'Also sends, and manages domains and webhooks.'],
    admin: ['Admin', 'Does everything, also reads what mail says.'],
  },
  operator: 'Operator',
  actions: (email: string) => `Actions for ${email}`,
  makeRole: (role: string) => `Make ${role}`,
  remove: 'Remove',
  fresh: (count: number) => `${count} new`,
  changed: (email: string, role: string) => `${email} is ${role} now, and has to sign in again.`,
  inviting: {
    title: 'Invite a person',
    email: 'Email address',
    role: 'Role',
    submit: 'Invite',
  },
  secret: {
    title: (email: string) => `${email} may sign in`,
    known: 'This person signs in as before.',
    once: 'Hand this link to them: it signs in once, and is shown only here.',
    until: 'It works until',
    password: 'Hand this password to them: it is shown only here.',
    stored: 'I have handed it over',
    guard: 'Hand it over first: it is shown only here.',
    done: 'Done',
  },
  removing: {
    title: (email: string) => `Remove ${email}?`,
    about: 'Their sessions here end at once. API keys that they made go on working.',
    keep: 'Keep member',
    submit: 'Remove the member',
    done: (email: string) => `${email} has no access any more.`,
  },
};
