export const words = {
  title: 'Metrics',
  answer: {
    none: 'No email in this period. New email is counted within two minutes.',
    canceled: (count: string) => `All ${count} recipients were canceled before sending.`,
    some: (delivered: string, count: string, bounced: string) =>
      `${delivered} of ${count} recipients delivered, ${bounced} bounced`,
    captured: (captured: string, count: string, bounced: string) =>
      `${captured} of ${count} recipients captured in the test inbox (not delivered), ${bounced} bounced`,
    both: (delivered: string, count: string, captured: string, bounced: string) =>
      `${delivered} of ${count} recipients delivered, ${captured} captured in the test inbox, ${bounced} bounced`,
  },
  range: 'Time range',
  ranges: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days' },
  time: 'Time',
  mail: 'Outcomes',
  took: 'Time to delivery (seconds)',
  metrics: {
    accepted: 'Accepted',
    delivered: 'Delivered',
    captured: 'Captured',
    bounced: 'Bounced',
    deferred: 'Deferred',
    failed: 'Failed',
    complained: 'Complained',
  },
  p50: 'p50',
  p95: 'p95',
  breakdown: 'Breakdown',
  by: 'Group by',
  dimensions: {
    domain: 'Domain',
    tag: 'Tag',
    destination: 'Destination',
    provider: 'Provider',
    api_key: 'API key',
  },
  others: 'All others',
  none: 'No data for this period.',
  csv: 'Download CSV',
  saveBreakdown: 'Download breakdown as CSV',
  complete: 'Complete until',
};
