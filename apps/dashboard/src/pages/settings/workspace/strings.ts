export const words = {
  title: 'Workspace',
  answer: {
    unlimited: (used: string) => `${used} mails this month, without a limit.`,
    limited: (used: string, limit: string, reset: string) =>
      `${used} of ${limit} mails this month are used; the count begins again on ${reset}.`,
  },
  denied: 'Only an admin of the workspace sees its plan, and changes its name and policy.',
  general: 'Name and policy',
  name: 'Name',
  policy: 'If the server’s answer to a sent mail is lost',
  policies: {
    resend: ['Send it again', 'It may arrive twice, with the same Message-ID.'],
    stop: ['Stop', 'It ends as failed, and may not have arrived.'],
  },
  save: 'Save',
  saved: 'The workspace is changed.',
  plan: 'Plan',
  planFacts: {
    name: 'Plan',
    monthly: 'Mails per month',
    recipients: 'Recipients of one mail',
    send: 'Sends a minute and key',
    logs: 'Reads of the log a minute and key',
    other: 'Other requests a minute and key',
    none: 'no limit',
  },
  planAbout: 'An operator of the instance puts the workspace on another plan.',
  usage: 'This month',
  usageAbout: 'Mails are counted by unique recipient, on the days of UTC.',
  projected: (count: string) => `About ${count} by the end of the month, if it goes on like this.`,
  day: 'Day',
  used: 'Mails',
  capture: {
    title: 'Capture',
    on: 'Mail is captured: it ends in the test inbox, and none of it leaves this machine.',
    off: (ways: readonly string[]) =>
      `Mail of live keys is delivered ${ways.join(', then ')}; mail of sandbox keys is captured.`,
    ways: { capture: 'to the test inbox', mx: 'to the servers of its recipients', smtp: 'by a relay' },
    about: (size: string) =>
      `DELIVERY decides, for the whole instance. Captured mail of a workspace takes up to ${size}; the oldest goes first.`,
    inbox: 'Open the test inbox',
  },
  kept: {
    title: 'Retention',
    columns: { kind: 'What', covers: 'Covers', age: 'Kept', setting: 'Set by' },
    kinds: {
      messages: ['Mail', 'The log of each mail with its recipients and tags.'],
      bodies: ['Content', 'HTML, text, headers and attachments; the log stays.'],
      events: ['Events', 'Events, attempts and webhook deliveries.'],
      transcripts: ['Transcripts', 'The SMTP dialogue of every attempt.'],
      captures: ['Captured mail', 'What is in the test inbox.'],
      requests: ['Requests', 'Refused and failed requests of every API.'],
    } satisfies Record<string, readonly [string, string]>,
    failuresOnly: 'The SMTP dialogue of attempts that failed; TRANSCRIPTS can keep all.',
    noRequests: 'Nothing new: REQUEST_LOG is off.',
    always: 'without limit',
    about:
      'The operator sets ages in the environment of the processes, the same for every workspace. A single mail is kept without its content by "retain": "none" in the send.',
    erase: 'Erase one address',
  },
  facts: { title: 'Id', id: 'Id', created: 'Made' },
};
