export const words = {
  title: 'Storage',
  answer: {
    ages: 'The disk lasts for more than a hundred years, at the rate of the last seven days.',
    full: (days: string) => `The disk is full in about ${days}, at the rate of the last seven days.`,
    never: 'The disk is not filled: retention frees as much as arrives before it is.',
    idle: 'Nothing was accepted in the last seven days, so nothing grows.',
    elsewhere: (size: string) => `The database has ${size}; the disk of its server cannot be seen from here.`,
  },
  days: (days: number) =>
    days < 1
      ? 'a day'
      : days < 730
        ? `${Math.round(days).toLocaleString('en')} days`
        : `${Math.round(days / 365)} years`,
  figures: {
    title: 'The disk',
    database: 'Database',
    free: 'Free',
    perMail: 'A mail takes',
    perDay: 'Mails a day',
    perYear: 'A year takes',
    mails: 'Mails kept',
  },
  used: (free: string, total: string) => `${free} of ${total} are free.`,
  unmeasured: (size: string) => `A mail is counted as ${size}, which is a usual one, until a thousand are kept here.`,
  measured: 'Measured: the tables of mail, webhooks and jobs with their indexes, for each mail that is kept.',
  always: {
    title: 'Kept without limit',
    none: 'Everything that grows has an age.',
    setting: (name: string) => `Set ${name} in the environment of every process, such as ${name}=90d.`,
    byDesign: 'By design: it is small, and is the record of what was done, how much was sent, and under which tags.',
  },
  tables: 'Tables',
  jobs: 'jobs of all queues',
  rest: (size: string, whole: string) =>
    `Smaller tables and what Postgres keeps for itself take ${size}, which makes ${whole} in all.`,
  columns: {
    name: 'Table',
    bytes: 'Size',
    share: 'Share',
    indexes: 'Indexes',
    perMail: 'A mail',
    rows: 'Rows, about',
    partitions: 'Partitions',
    kept: 'Kept',
  },
  kept: { always: 'without limit', trimmed: 'trimmed' },
  trimmedAbout: 'It is small, or has a limit of its own.',
};
