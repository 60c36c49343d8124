export const words = {
  title: 'Storage',
  answer: {
    ages: 'Over 100 years of disk space left at the current rate.',
    full: (days: string) => `Disk full in about ${days} at the rate of the last 7 days.`,
    never: 'Retention frees space as fast as new email uses it.',
    idle: 'Not enough email in the last 7 days to estimate growth.',
    elsewhere: (size: string) => `Database size: ${size}. Free disk space on the database server is unknown.`,
  },
  days: (days: number) =>
    days < 1
      ? '1 day'
      : days < 730
        ? `${Math.round(days).toLocaleString('en')} days`
        : `${Math.round(days / 365)} years`,
  figures: {
    title: 'Disk',
    database: 'Database',
    free: 'Free',
    perEmail: 'Size per email',
    perDay: 'Emails per day',
    perYear: 'Growth per year',
    stored: 'Stored emails',
  },
  used: (free: string, total: string) => `${free} of ${total} free`,
  unmeasured: (size: string) => `Assumes ${size} per email until 1,000 are stored.`,
  measured: 'Measured: email, webhook and job tables with indexes, divided by the number of stored emails.',
  always: {
    title: 'Kept indefinitely',
    none: 'All data that grows over time has a retention limit.',
    setting: (name: string) => `Set ${name} for every process, for example ${name}=90d.`,
    byDesign: 'By design. It’s small, and it records changes, usage and tags.',
  },
  tables: 'Tables',
  jobs: 'Jobs in all queues',
  rest: (size: string, total: string) => `Smaller tables and Postgres overhead take ${size}, for a total of ${total}.`,
  columns: {
    name: 'Table',
    bytes: 'Size',
    share: 'Share',
    indexes: 'Indexes',
    perEmail: 'Per email',
    rows: 'Rows (est.)',
    partitions: 'Partitions',
    kept: 'Retention',
  },
  kept: { always: 'Indefinite', trimmed: 'Trimmed' },
  trimmedAbout: 'Small, or has its own limit.',
};
