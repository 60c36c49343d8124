export const words = {
  title: 'Operators',
  answer: (count: number) =>
    `${count} ${count === 1 ? 'operator' : 'operators'} with access to the whole instance and every workspace`,
  add: 'Add operator',
  columns: { email: 'Email', since: 'Since' },
  remove: (email: string) => `Remove ${email}`,
  removed: (email: string) => `${email} removed as an operator`,
  removing: {
    title: (email: string) => `Remove ${email} as an operator?`,
    about: 'They’re signed out everywhere. Their workspace roles don’t change.',
    keep: 'Keep operator',
    submit: 'Remove operator',
  },
  adding: {
    title: 'Add operator',
    about: 'Existing users get new sign-in details, because the admin who invited them may know the old ones.',
    email: 'Email address',
    submit: 'Add operator',
  },
  fresh: (count: number) => `${count} new`,
};
