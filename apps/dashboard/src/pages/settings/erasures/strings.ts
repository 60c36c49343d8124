import type { Outputs } from '../../../api/trpc.ts';

type Counts = Outputs['erasures']['get']['counts'];

export const words = {
  title: 'Retention and erasure',
  list: 'Erasures',
  kept: {
    title: 'Retention',
    columns: { kind: 'Data', covers: 'Includes', age: 'Retention', setting: 'Setting' },
    kinds: {
      messages: ['Email', 'Email logs with recipients and tags.'],
      bodies: ['Content', 'HTML, text, headers and attachments. Logs are kept.'],
      events: ['Events', 'Events, attempts and webhook deliveries.'],
      transcripts: ['Transcripts', 'SMTP transcripts of every attempt.'],
      captures: ['Captured email', 'Email in the test inbox.'],
      requests: ['Requests', 'Rejected and failed API requests.'],
    } satisfies Record<string, readonly [string, string]>,
    failuresOnly: 'SMTP transcripts of failed attempts. Set TRANSCRIPTS=all to keep all of them.',
    noRequests: 'None, because REQUEST_LOG is off.',
    always: 'Unlimited',
    about:
      'Operators set retention with environment variables for all workspaces. To skip storing the content of an email, send it with "retain": "none".',
  },
  answer: {
    none: 'No addresses erased yet.',
    running: (count: number) => `${count} ${count === 1 ? 'erasure' : 'erasures'} running`,
    done: (count: number, has_more: boolean) =>
      `${count}${has_more ? ' or more' : ''} ${count === 1 ? 'address' : 'addresses'} erased. Receipts don’t contain the address.`,
  },
  create: 'Erase address',
  columns: {
    id: 'Receipt',
    status: 'Status',
    emails: 'Emails',
    rows: 'Total rows',
    started: 'Started',
    took: 'Duration',
  },
  statuses: { queued: 'Queued', running: 'Running', completed: 'Completed' },
  fresh: (count: number) => `${count} new`,
  empty: {
    title: 'Handle erasure requests',
    about:
      'Erasing an address removes it from email, recipients, events, attempts, webhooks, request logs and statistics in this workspace. Content sent only to that address is deleted, and pending email to it is canceled. You get a receipt that doesn’t contain the address.',
  },
  creating: {
    title: 'Erase address',
    about: 'This cannot be undone. Content that was also sent to other recipients is kept until they are erased too.',
    email: 'Address',
    again: 'Confirm address',
    mismatch: 'The addresses don’t match.',
    submit: 'Erase address',
    done: 'Erasure started',
  },
  receipt: {
    title: 'Erasure receipt',
    counted: 'Erased data',
    what: 'Data',
    count: 'Rows',
    remains: 'Where the address may remain',
    nothing: 'The address was not found in this workspace.',
    facts: 'Details',
    started: 'Started',
    finished: 'Finished',
    id: 'ID',
    rest: 'API request',
  },
  kinds: {
    recipients: 'Recipients',
    canceled: 'Pending recipients canceled',
    messages: 'Emails with addresses, subject, tags or metadata redacted',
    bodies: 'Email content deleted',
    bodies_kept: 'Email content kept (shared with other recipients)',
    attempts: 'Attempts',
    transcripts: 'Transcripts',
    events: 'Events',
    webhook_deliveries: 'Webhook deliveries',
    captures: 'Captured email',
    requests: 'Rejected requests',
    idempotency_keys: 'Idempotency responses',
    suppressions: 'Suppressions (kept as a hash)',
    other_rows: 'Statistics, failures, bulk actions and jobs',
  } satisfies Record<keyof Counts, string>,
};
