import type { Outputs } from '../../../api/trpc.ts';

type Counts = Outputs['erasures']['get']['counts'];

export const words = {
  title: 'Erasures',
  answer: {
    none: 'No address was erased from this workspace.',
    running: (count: number) => `${count} ${count === 1 ? 'erasure is' : 'erasures are'} running.`,
    done: (count: number, more: boolean) =>
      `${count}${more ? ' or more' : ''} ${count === 1 ? 'address was' : 'addresses were'} erased. Receipts hold no address.`,
  },
  create: 'Erase an address',
  columns: { id: 'Receipt', status: 'State', mails: 'Mails', rows: 'Rows in all', started: 'Started', took: 'Took' },
  statuses: { queued: 'Queued', running: 'Running', completed: 'Completed' },
  fresh: (count: number) => `${count} new`,
  empty: {
    title: 'A person may ask to be forgotten',
    about:
      'An erasure replaces one address in mail, recipients, events, attempts, webhooks, the request log and statistics of this workspace, deletes content that went to it alone, and cancels what was still to be sent. Its receipt counts what was erased and holds no address.',
  },
  creating: {
    title: 'Erase an address',
    about: 'This cannot be undone. Content that also went to others stays until they are erased too.',
    email: 'Address',
    again: 'The same address again',
    mismatch: 'The two addresses differ.',
    submit: 'Erase it',
    done: 'The erasure has begun.',
  },
  receipt: {
    title: 'Receipt of an erasure',
    counted: 'Erased or changed',
    what: 'What',
    count: 'Rows',
    remains: 'Where the address may still be',
    nothing: 'Nothing of this workspace held the address.',
    facts: 'Receipt',
    started: 'Started',
    finished: 'Finished',
    id: 'Id',
    rest: 'The same by the API',
  },
  kinds: {
    recipients: 'Recipients',
    canceled: 'Recipients whose mail was still to be sent',
    messages: 'Mails of which addresses, subject, tags or metadata changed',
    bodies: 'Contents deleted',
    bodies_kept: 'Contents kept, as they also went to others',
    attempts: 'Attempts',
    transcripts: 'Transcripts',
    events: 'Events',
    webhook_deliveries: 'Webhook deliveries',
    captures: 'Captured mails',
    requests: 'Refused requests',
    idempotency_keys: 'Answers under an Idempotency-Key',
    suppressions: 'Suppressions, kept under a hash',
    other_rows: 'Statistics, failures, bulk operations and jobs',
  } satisfies Record<keyof Counts, string>,
};
