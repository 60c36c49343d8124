export const words = {
  title: 'Operators',
  answer: (count: number) =>
    `${count} ${count === 1 ? 'operator' : 'operators'} with access to the whole instance and every workspace`,
  add: 'Invite operator',
  columns: { email: 'Email', factor: 'Second factor', since: 'Since' },
  factor: { on: 'Yes', off: 'No' },
  remove: (email: string) => `Remove ${email}`,
  removed: (email: string) => `${email} removed as an operator`,
  removing: {
    title: (email: string) => `Remove ${email} as an operator?`,
    about: 'They’re signed out everywhere. Their workspace roles don’t change.',
    keep: 'Keep operator',
    submit: 'Remove operator',
  },
  adding: {
    title: 'Invite operator',
    about: 'Existing users choose a new password, because the admin who invited them may know the old one.',
    email: 'Email address',
    submit: 'Invite operator',
  },
  fresh: (count: number) => `${count} new`,
};
