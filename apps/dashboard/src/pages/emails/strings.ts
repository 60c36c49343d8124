export const words = {
  scheduled: {
    title: 'Scheduled',
    answer: (count: number, more: boolean) =>
      count === 0
        ? 'Nothing is scheduled.'
        : `${count}${more ? ' or more' : ''} scheduled. Open one to reschedule, send or cancel it.`,
    empty: {
      title: 'Nothing is scheduled',
      about: 'Set scheduled_at to send an email later. It waits here until its time.',
    },
  },
  title: 'Emails',
  compose: 'New email',
  answer: {
    waiting: 'All accepted email, newest first.',
    loaded: (count: number, more: boolean, open: number, failed: number) =>
      `${more ? `Newest ${count}` : count} ${count === 1 ? 'email' : 'emails'}: ${open} not sent yet, ${failed} failed or bounced`,
  },
  search: {
    label: 'Search',
    placeholder: 'Search by address, domain or filter',
    unknown: (parts: string) => `“${parts}” is not an address, domain or filter.`,
    find: (parts: string) => `Find “${parts}” in subjects`,
    filters: 'Add filter',
    names: {
      to: ['Recipient', 'to:ada@example.com'],
      at: ['Recipient domain', 'at:example.com'],
      from: ['Sender', 'from:hello@example.com'],
      domain: ['Sender domain', 'domain:example.com'],
      tag: ['Tag', 'tag:invoice'],
      transport: ['Transport', 'transport:trn_… or transport:default'],
      id: ['ID', 'id:msg_…'],
      after: ['Accepted after', 'after:2026-11-01 or after:24h'],
      before: ['Accepted before', 'before:2026-11-30'],
    },
    range: 'Time range',
    ranges: {
      any: 'Any time',
      '1h': 'Last hour',
      '24h': 'Last 24 hours',
      '7d': 'Last 7 days',
      '30d': 'Last 30 days',
      custom: 'Custom range',
    },
    all: 'All',
  },
  columns: { subject: 'Subject', to: 'To', status: 'Status', tags: 'Tags', at: 'Accepted', scheduled: 'Sends' },
  noSubject: '(no subject)',
  more: (count: number) => `and ${count} more`,
  fresh: (count: number) => `${count === 50 ? '50 or more' : count} new`,
  empty: {
    title: 'Send your first email',
    about:
      'Email appears here as soon as it’s accepted, with every attempt and response. Run this in a terminal with one of your API keys, or write a test email here.',
    none: 'No results',
    noneAbout: 'No email matches this search. Expired email is not listed.',
    clear: 'Clear search',
  },
  bulk: {
    selected: (count: number) => `${count} selected`,
    cancel: 'Cancel',
    keep: 'Keep email',
    resend: 'Resend',
    clear: 'Clear selection',
    matching: 'Select all matching emails',
    matchingTitles: {
      retry: 'Retry all matching emails now',
      cancel: 'Cancel all matching emails',
      give_up: 'Give up on all matching emails',
      send_now: 'Send all matching emails now',
    },
    done: (noun: string, done: number) => `${noun}: ${done} done`,
    partly: (noun: string, done: number, failures: number, reason: string) =>
      `${noun}: ${done} done, ${failures} failed. ${reason}`,
    resendTitle: (count: number) => `Resend ${count} ${count === 1 ? 'email' : 'emails'}`,
    resendAbout: 'Sends each one again as a new email to all of its recipients. This counts toward your quota.',
    cancelTitle: (count: number) => `Cancel ${count} ${count === 1 ? 'email' : 'emails'}`,
    cancelAbout:
      'Recipients who haven’t received these emails yet won’t get them. Email that was already sent is not affected.',
  },
};
