export const words = {
  title: 'Suppressions',
  answer: {
    none: 'No address is suppressed: mail goes to everyone.',
    some: (count: number, more: boolean) =>
      `Nothing is sent to ${count}${more ? ' or more' : ''} ${count === 1 ? 'address' : 'addresses'}.`,
  },
  add: 'Suppress an address',
  sources: { all: 'All', bounce: 'Bounces', complaint: 'Complaints', manual: 'By hand', import: 'Imported' },
  filter: 'Cause',
  columns: { email: 'Address', source: 'Cause', reason: 'Reason', created: 'Since', expires: 'Until' },
  never: 'for good',
  newRows: (count: number) => `${count} new`,
  remove: (email: string) => `Remove ${email}`,
  empty: {
    title: 'Addresses that get no mail',
    about:
      'A mailbox that does not exist and a person who complains are put here by themselves, so that your domain keeps its reputation. Mail to them is shown as suppressed, and is never sent.',
  },
  adding: {
    title: 'Suppress an address',
    email: 'Address',
    reasonAbout: 'For the people who come after you, such as "asked by phone".',
    submit: 'Suppress',
    done: (email: string) => `${email} gets no mail any more.`,
  },
  removing: {
    title: (email: string) => `Send to ${email} again?`,
    about: 'The next mail to this address is sent. If it bounces or complains again, it comes back to this list.',
    keep: 'Keep suppression',
    submit: 'Remove from the list',
    done: (email: string) => `${email} gets mail again.`,
  },
};
