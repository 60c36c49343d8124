export const words = {
  title: 'Suppressions',
  answer: {
    none: 'No suppressed addresses.',
    some: (count: number, has_more: boolean) =>
      `${count}${has_more ? ' or more' : ''} suppressed ${count === 1 ? 'address' : 'addresses'}`,
  },
  add: 'Add suppression',
  sources: { all: 'All', bounce: 'Bounces', complaint: 'Complaints', manual: 'Manual', import: 'Imported' },
  causes: { bounce: 'Bounce', complaint: 'Complaint', manual: 'Manual', import: 'Imported' },
  filter: 'Source',
  only: (email: string) => `Only ${email}`,
  all: 'Show all',
  columns: { email: 'Address', source: 'Source', reason: 'Reason', created: 'Added', expires: 'Expires' },
  never: 'Never',
  newRows: (count: number) => `${count} new`,
  remove: (email: string) => `Remove ${email}`,
  empty: {
    title: 'Protect your sender reputation',
    about:
      'Addresses that hard bounce or report spam are added automatically. Email to them is marked as suppressed and never sent.',
  },
  adding: {
    title: 'Add suppression',
    email: 'Address',
    reasonAbout: 'Visible to your team, for example “requested by phone”.',
    submit: 'Add suppression',
    done: (email: string) => `${email} suppressed`,
  },
  removing: {
    title: (email: string) => `Send to ${email} again?`,
    about:
      'Email to this address is no longer blocked. If the address bounces or reports spam again, it’s suppressed again.',
    keep: 'Keep suppression',
    submit: 'Remove suppression',
    done: (email: string) => `${email} removed from suppressions`,
  },
};
