export const words = {
  title: 'Operators',
  answer: (count: number) =>
    `${count} ${count === 1 ? 'person may' : 'people may'} act on the whole instance and in every workspace.`,
  add: 'Add an operator',
  columns: { email: 'Person', since: 'Since' },
  remove: (email: string) => `Remove ${email}`,
  removed: (email: string) => `${email} is no operator any more.`,
  removing: {
    title: (email: string) => `Remove ${email} as an operator?`,
    about: 'Their sessions end. What they are in workspaces stays.',
    keep: 'Keep operator',
    submit: 'Remove the operator',
  },
  adding: {
    title: 'Add an operator',
    about: 'A person who exists already gets a new sign-in: the admin who invited them may know the old one.',
    email: 'Email address',
    submit: 'Add',
  },
  fresh: (count: number) => `${count} new`,
};
