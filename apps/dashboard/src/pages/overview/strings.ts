import type { Outputs } from '../../api/trpc.ts';

type Problem = Outputs['overview']['summary']['problems'][number];
type Step = Outputs['onboarding']['state']['steps'][number]['name'];

export const words = {
  title: 'Overview',
  answer: {
    calm: 'All systems operational.',
    waits: (oldest: string) => `Oldest queued email: ${oldest}.`,
    none: 'No email is waiting.',
    problems: (count: number) => `${count} ${count === 1 ? 'item needs' : 'items need'} attention.`,
  },
  figures: {
    title: 'Last 24 hours',
    accepted: 'Accepted',
    delivered: 'Delivered',
    captured: 'Captured',
    bounced: 'Bounced',
    failed: 'Failed',
    p95: 'p95 time to delivery',
    waiting: 'Waiting',
    unknown: '–',
    uncounted: 'New email appears here within two minutes.',
    complete: 'Counted up to',
  },
  first: {
    title: 'Send your first email',
    about:
      'Set POSTRIDER_API_KEY to one of your API keys, and run one of these. Each needs only its language’s standard library.',
    languages: { curl: 'curl', typescript: 'TypeScript', python: 'Python', php: 'PHP', go: 'Go' },
  },
  quota: {
    title: 'This month',
    used: (used: string, limit: string) => `${used} of ${limit} emails`,
    unlimited: (used: string) => `${used} emails, no limit`,
    projected: (count: string) => `Projected this month: ${count} emails`,
  },
  problems: {
    title: 'Needs attention',
    texts: {
      domain: (count) => `${count} ${count === 1 ? 'domain needs' : 'domains need'} attention`,
      webhook: (count) => `${count} ${count === 1 ? 'webhook is' : 'webhooks are'} failing`,
      database: () => 'The database needs a migration',
      worker: () => 'No worker is running, so nothing is sent',
      line: () => 'Delivery is delayed on the whole instance',
      instance: (count) => `${count} ${count === 1 ? 'problem' : 'problems'} on the instance`,
      hold: (count) => `${count} active ${count === 1 ? 'hold' : 'holds'}`,
      waiting: (count) => `Delivery is delayed for ${count} ${count === 1 ? 'recipient' : 'recipients'}`,
      quota: (count) => `${count}% of this month’s quota used`,
      bounces: (count) => `High bounce rate: ${count} ${count === 1 ? 'email' : 'emails'} bounced`,
      failed: (count) => `${count} ${count === 1 ? 'email' : 'emails'} failed`,
      feedback_missing: (count) =>
        `${count} ${count === 1 ? 'relay has' : 'relays have'} no feedback, so bounces are never seen`,
      feedback_rejected: (count) =>
        `Feedback requests of ${count} ${count === 1 ? 'relay' : 'relays'} fail their signature check`,
    } satisfies Record<Problem['kind'], (count: number) => string>,
  },
  steps: {
    title: 'Get started',
    done: 'Done',
    open: 'To do',
    texts: {
      key: ['Create an API key', 'Use a separate key for each application.'],
      test_send: ['Send a test email', 'See its content, its status and each attempt.'],
      domain: ['Add your domain', 'You’ll see which DNS records to publish.'],
      verify: ['Verify your domain', 'Happens automatically once your DNS records are visible.'],
      webhook: ['Add a webhook', 'Get notified about deliveries and bounces.'],
    } satisfies Record<Step, readonly [string, string]>,
  },
};
