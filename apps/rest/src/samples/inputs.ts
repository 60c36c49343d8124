/** What the samples of an operation send: fields of the body, or parameters of the query. */
export interface SampleInput {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
}

const receipt = {
  from: 'Shop <hello@sandbox.test>',
  to: 'ada@example.com',
  subject: 'Your receipt',
  html: '<p>Thank you for your order.</p>',
  tags: ['receipt'],
};

/** The samples' input by operationId. Operations that are missing here need none. */
export const sample_inputs: Readonly<Record<string, SampleInput>> = {
  email_send: { body: receipt },
  email_batch: { body: [receipt, { ...receipt, to: 'grace@example.com' }] },
  email_logs: { query: { status: 'bounced', limit: '10' } },
  email_reschedule: { body: { scheduled_at: '2030-01-31T09:00:00Z' } },
  email_give_up: { body: { reason: 'Ada confirmed by phone' } },
  events_list: { query: { type: 'email.delivered', limit: '10' } },
  webhooks_create: {
    body: { url: 'https://example.com/hooks/postrider', events: ['email.delivered', 'email.bounced'] },
  },
  webhooks_update: { body: { events: ['email.bounced', 'email.complained'] } },
  webhooks_test: { body: { type: 'email.bounced' } },
  webhooks_recover: { body: { since: '2030-01-31T09:00:00Z' } },
  webhooks_deliveries: { query: { status: 'delivered', limit: '10' } },
  suppressions_create: { body: { email: 'ada@example.com', reason: 'Asked by phone' } },
  api_keys_create: { body: { name: 'Shop', scopes: ['email:send'] } },
  domains_add: { body: { name: 'example.com' } },
  domains_update: { body: { return_path: 'bounces' } },
  captures_list: { query: { to: 'ada@example.com', wait: '10' } },
  captures_release: { body: { to: 'grace@example.com' } },
  erasures_start: { body: { email: 'ada@example.com' } },
  requests_list: { query: { reason: 'invalid_email' } },
  stats_get: { query: { step: 'hour', group_by: 'tag' } },
};
