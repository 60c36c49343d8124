import type { Outputs } from '../../api/trpc.ts';

type Problem = Outputs['overview']['summary']['problems'][number];
type Step = Outputs['onboarding']['state']['steps'][number]['name'];

export const words = {
  title: 'Overview',
  answer: {
    calm: 'Everything is in order.',
    waits: (oldest: string) => `The oldest mail has waited ${oldest}.`,
    none: 'Nothing waits.',
    problems: (count: number) => `${count} ${count === 1 ? 'thing needs' : 'things need'} you.`,
  },
  figures: {
    title: 'The last 24 hours',
    accepted: 'Accepted',
    delivered: 'Delivered',
    bounced: 'Bounced',
    failed: 'Failed',
    p95: 'p95 to delivered',
    waiting: 'Waiting',
    unknown: '–',
    uncounted: 'The first mail is counted within two minutes.',
    complete: 'Counted until',
  },
  quota: {
    title: 'This month',
    used: (used: string, limit: string) => `${used} of ${limit} mails`,
    unlimited: (used: string) => `${used} mails, without a limit`,
    projected: (count: string) => `About ${count} by the end of the month, if it goes on like this.`,
  },
  problems: {
    title: 'Needs you',
    since: 'since',
    texts: {
      domain: (count) => `${count} ${count === 1 ? 'domain is' : 'domains are'} not as they should be`,
      webhook: (count) => `${count} ${count === 1 ? 'webhook fails' : 'webhooks fail'}`,
      hold: (count) => `${count} ${count === 1 ? 'hold stops' : 'holds stop'} mail`,
      waiting: (count) => `${count} ${count === 1 ? 'recipient waits' : 'recipients wait'} longer than usual`,
      quota: (count) => `${count} % of the month’s mail is used`,
      bounces: (count) => `${count} mails bounced, more than mailbox providers like`,
      failed: (count) => `${count} ${count === 1 ? 'mail' : 'mails'} failed`,
    } satisfies Record<Problem['kind'], (count: number) => string>,
  },
  steps: {
    title: 'The first steps',
    done: 'Done',
    open: 'To do',
    texts: {
      key: ['Create an API key', 'Every program gets its own.'],
      test_send: ['Send a test mail', 'It is captured; nothing leaves the machine.'],
      domain: ['Add your domain', 'It says which records to publish.'],
      verify: ['Verify it', 'It turns green by itself once the records are seen.'],
      webhook: ['Add a webhook', 'Your program hears of deliveries and bounces.'],
    } satisfies Record<Step, readonly [string, string]>,
  },
};
