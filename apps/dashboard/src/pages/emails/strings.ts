export const words = {
  title: 'Emails',
  compose: 'Compose',
  answer: {
    waiting: 'Every mail that was accepted, newest first.',
    open: (count: number) => `${count} of these ${count === 1 ? 'is' : 'are'} not sent yet.`,
    done: 'Nothing in this list waits.',
    failed: (count: number) => `${count} failed or bounced.`,
  },
  search: {
    label: 'Search',
    placeholder: 'status: to: at: from: tag: domain: id: before: after:',
    unknown: (parts: string) => `${parts} is not part of the search. To look for words of a subject, press Ctrl K.`,
    all: 'All',
  },
  columns: { subject: 'Subject', to: 'To', status: 'State', tags: 'Tags', at: 'Accepted' },
  noSubject: '(no subject)',
  more: (count: number) => `and ${count} more`,
  fresh: (count: number) => `${count === 20 ? '20 or more' : count} new`,
  empty: {
    title: 'Send the first mail',
    about:
      'Every mail appears here the moment it is accepted, and stays with each attempt and each reply. Paste this into a terminal with one of your keys, or write a test mail here.',
    none: 'Nothing matches',
    noneAbout: 'No mail fits this search. The list holds what retention keeps.',
    clear: 'Clear the search',
  },
  bulk: {
    chosen: (count: number) => `${count} chosen`,
    cancel: 'Cancel',
    keep: 'Keep email',
    resend: 'Resend',
    clear: 'Choose none',
    done: (what: string, done: number) => `${what}: ${done} done.`,
    partly: (what: string, done: number, refused: number, why: string) =>
      `${what}: ${done} done, ${refused} refused. ${why}`,
    resendTitle: (count: number) => `Resend ${count} ${count === 1 ? 'mail' : 'mails'}`,
    resendAbout: 'Each is sent again as a new mail to all of its recipients. It counts against the quota.',
    cancelTitle: (count: number) => `Cancel ${count} ${count === 1 ? 'mail' : 'mails'}`,
    cancelAbout: 'What has not been sent is not sent. Mail that is on its way or has arrived stays as it is.',
  },
};
