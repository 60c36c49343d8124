import type { FeedbackEvent, Provider, Reception } from './feedback.ts';

interface ProviderWords {
  readonly name: string;
  /** What to enter at the provider. */
  readonly setup: string;
  /** The provider's own secret, and where it is found. Null if the provider uses one of ours. */
  readonly secret: { readonly label: string; readonly about: string } | null;
}

// Exhaustive, so that a new provider breaks the build here.
const providers: Readonly<Record<Provider, ProviderWords>> = {
  generic: {
    name: 'Any relay (Standard Webhooks)',
    setup: 'Send the reports to the URL, signed with the secret as in Standard Webhooks.',
    secret: null,
  },
  ses: {
    name: 'Amazon SES',
    setup:
      'Add the URL as an HTTPS subscription of the SNS topic, without raw message delivery. It is confirmed automatically.',
    secret: { label: 'SNS topic ARN', about: 'The topic that the identity or its configuration set publishes to.' },
  },
  postmark: {
    name: 'Postmark',
    setup:
      'Add the URL as a webhook for Delivery, Bounce and Spam Complaint, with HTTP authentication: the user is postrider, and the password is the secret.',
    secret: null,
  },
  sendgrid: {
    name: 'SendGrid',
    setup: 'Add the URL as an Event Webhook, with Signed Event Webhook enabled.',
    secret: {
      label: 'Verification key',
      about: 'Shown at the Event Webhook once Signed Event Webhook is enabled. Its URL can be changed afterwards.',
    },
  },
  mailgun: {
    name: 'Mailgun',
    setup: 'Add the URL as a webhook for delivered, permanent failure, temporary failure and spam complaints.',
    secret: { label: 'HTTP webhook signing key', about: 'Shown under the account’s API security.' },
  },
  resend: {
    name: 'Resend',
    setup: 'Add the URL as a webhook for all email events but opens and clicks.',
    secret: {
      label: 'Signing secret',
      about: 'Shown at the webhook once it exists. Its URL can be changed afterwards.',
    },
  },
  brevo: {
    name: 'Brevo',
    setup: 'Add the URL as a transactional webhook, with the secret as its bearer token.',
    secret: null,
  },
};

export const words = {
  title: (name: string) => `Feedback from ${name}`,
  about: 'Relays accept an email before they deliver it. With feedback, they report bounces and complaints by HTTP.',
  docs: 'Report format and setup',
  empty: {
    title: 'No feedback',
    about: 'This relay keeps bounces. Without feedback you see none.',
  },
  set: 'Set up feedback',
  replace: 'Replace URL and secret',
  remove: 'Remove feedback',
  answer: {
    none: 'No request received yet.',
    rejected: 'The last request was rejected.',
    received: 'Requests are received.',
  } satisfies Record<Reception, string>,
  url: 'URL',
  secret: 'Secret',
  provider: 'Provider',
  lastRequest: 'Last request',
  never: 'None yet',
  problem: 'Signature problem',
  previous: 'Previous URL and secret',
  accepted: 'Accepted until',
  providers,
  setting: {
    title: (name: string) => `Set up feedback from ${name}`,
    replacing: (name: string) => `Replace URL and secret of ${name}`,
    overlap: 'The previous URL and secret work for another 24 hours, unless you change the provider.',
    missing: (label: string) => `Enter the provider’s secret: ${label}.`,
    submit: 'Set up feedback',
    submitReplaced: 'Replace URL and secret',
  },
  shown: {
    title: (name: string) => `URL and secret for ${name}`,
    titleOfUrl: (name: string) => `URL for ${name}`,
    once: 'The secret is only shown now.',
    stored: 'I’ve entered the URL and the secret',
    guard: 'The secret can’t be shown again. Confirm that you’ve entered it.',
    done: 'Close',
  },
  removing: {
    title: (name: string) => `Remove feedback from ${name}?`,
    about:
      'Further requests are rejected, and the reports are deleted. You won’t see the bounces that this relay keeps.',
    keep: 'Keep feedback',
    submit: 'Remove feedback',
    done: (name: string) => `Removed feedback from ${name}`,
  },
  events: {
    title: 'Last reports',
    none: 'Reports appear here once the relay sends them.',
    columns: { kind: 'Report', state: 'State', email: 'Email', detail: 'Detail', time: 'Received' },
    kinds: {
      bounced: 'Bounced',
      complained: 'Complained',
      delayed: 'Delayed',
      delivered: 'Delivered',
    } satisfies Record<FeedbackEvent['kind'], string>,
    states: {
      pending: ['Pending', 'Matched again for 15 minutes.'],
      recorded: ['Recorded', 'The email shows it.'],
      ignored: ['Ignored', 'Nothing changed.'],
      unmatched: ['Unmatched', 'This transport sent no such email.'],
    } satisfies Record<FeedbackEvent['state'], readonly [string, string]>,
  },
};
