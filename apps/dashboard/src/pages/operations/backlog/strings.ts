export const words = {
  title: 'Backlog',
  answer: {
    none: 'Nothing waits.',
    calm: (count: string) => `Waiting recipients: ${count}, none of them for longer than 5 min.`,
    late: (count: string, old: string, oldest: string) =>
      `Waiting recipients: ${count}, of them ${old} for longer than 5 min; the oldest for ${oldest}.`,
  },
  by: 'By',
  dimensions: {
    destination: 'Destination',
    provider: 'Provider',
    sender_domain: 'Sending domain',
    api_key: 'API key',
    tag: 'Tag',
  },
  freeze: 'Freeze',
  live: 'Live',
  total: 'All',
  upTo: (minutes: number) =>
    minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60 || ''}`.trim(),
  beyond: 'Older',
  oldest: 'Oldest',
  reply: 'Last reply',
  closed: 'Slowed',
  closedUntil: (reason: string) =>
    reason === 'limit'
      ? 'It is at the limit that an operator has set.'
      : 'Its last attempts failed. One mail at a time is tried until one gets through.',
  held: 'Held',
  cell: (count: number, key: string, age: string) => `${count} of ${key}, ${age}: actions`,
  lastSuccess: 'Last success',
  never: 'none known',
  menu: {
    show: 'Show the mail',
    hold: 'Hold',
    release: 'Release',
    limit: 'Limit rate',
    retry: 'Retry now',
    give_up: 'Give up',
    all: 'all that waits',
    within: (age: string) => `accepted within ${age}`,
    older: (age: string) => `accepted more than ${age} ago`,
    title: (action: string, key: string, what: string) => `${action}: ${key}, ${what}`,
    ownDomain: 'A sending domain is held in its own workspace, under “This workspace”.',
    noFilter: 'Mail of a provider or a key is held or found by its destination and its key.',
  },
  limiting: {
    title: (destination: string) => `Limit ${destination}`,
    about:
      'Applies to all workspaces and workers within two seconds. Email over the limit waits, and no retry is spent.',
    connections: 'Concurrent connections',
    rate: 'Emails per minute',
    empty: 'Empty: no limit.',
    submit: 'Save limit',
    done: (destination: string) => `Limit saved for ${destination}`,
    removed: (destination: string) => `Limit removed for ${destination}`,
  },
  heat: 'Each cell is a menu of what can be done with its mail. Ages are counted from when the mail was first due.',
};
