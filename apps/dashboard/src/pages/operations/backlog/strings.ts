export const words = {
  title: 'Backlog',
  answer: {
    none: 'No email is waiting.',
    calm: (count: string) => `${count} waiting ${count === '1' ? 'recipient' : 'recipients'}, none for more than 5 min`,
    late: (count: string, old: string, oldest: string) =>
      `${count} waiting ${count === '1' ? 'recipient' : 'recipients'}, ${old} for more than 5 min, oldest ${oldest}`,
  },
  by: 'Group by',
  dimensions: {
    destination: 'Destination',
    provider: 'Provider',
    sender_domain: 'Sending domain',
    api_key: 'API key',
    tag: 'Tag',
  },
  freeze: 'Pause updates',
  live: 'Resume updates',
  total: 'All',
  age: (minutes: number) =>
    minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60 || ''}`.trim(),
  beyond: 'Older',
  oldest: 'Oldest',
  reply: 'Last response',
  closed: 'Throttled',
  closedUntil: (reason: string) =>
    reason === 'limit'
      ? 'At the limit set by an operator.'
      : 'Recent attempts failed. Postrider tries one email at a time until one succeeds.',
  held: 'Held',
  cell: (count: number, key: string, age: string) => `${key}, ${age}: ${count} waiting. Open actions`,
  lastSuccess: 'Last success',
  never: 'None',
  menu: {
    show: 'View emails',
    hold: 'Hold',
    release: 'Release',
    limit: 'Limit rate',
    retry: 'Retry now',
    give_up: 'Give up',
    all: 'all waiting email',
    within: (age: string) => `accepted in the last ${age}`,
    older: (age: string) => `accepted more than ${age} ago`,
    title: (action: string, key: string, label: string) => `${action}: ${key}, ${label}`,
    ownDomain: 'To hold a sending domain, open its workspace and choose “This workspace”.',
    noFilter: 'To hold or view this email, group by destination or API key.',
  },
  limiting: {
    title: (destination: string) => `Limit ${destination}`,
    about:
      'Applies to all workspaces and workers within two seconds. Email over the limit waits without using up retries.',
    connections: 'Concurrent connections',
    rate: 'Emails per minute',
    empty: 'Leave empty for no limit.',
    submit: 'Save limit',
    done: (destination: string) => `Limit saved for ${destination}`,
    removed: (destination: string) => `Limit removed for ${destination}`,
  },
  heat: 'Columns show how long email has been waiting, up to the time in the heading. Select a cell to act on it.',
};
