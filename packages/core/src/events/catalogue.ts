import { z } from 'zod';
import { exampleId, timeField } from '../fields/wire.ts';

interface EventKind {
  readonly summary: string;
  /** The subject of an event; an email event is recorded per recipient, or once for the message as a whole. */
  readonly about: 'message' | 'recipient' | 'domain' | 'webhook' | 'suppression' | 'workspace';
  /** Fields of data besides email and recipient. Fields may be added, so unknown ones are allowed. */
  readonly facts: z.ZodObject;
  readonly example: Readonly<Record<string, unknown>>;
}

const no_facts = z.looseObject({});
const attempted = z.looseObject({
  attempt: z.int().optional().meta({ description: 'The attempt number, from 1.' }),
  transport_id: z.string().optional().meta({
    description: 'The transport that was tried last. Missing: the default one.',
  }),
  response: z.string().nullable().optional().meta({ description: "The server's reply." }),
});
const bounced = attempted.extend({
  bounce: z
    .looseObject({
      class: z.enum(['hard', 'soft']).meta({
        description: 'hard: the mailbox or its domain does not exist. Unknown causes are soft.',
      }),
      category: z.string().meta({ description: 'The cause of the rejection.' }),
      code: z.string().nullable().meta({ description: 'The enhanced status code, or the reply code.' }),
      reason: z.literal('relay_suppressed').optional().meta({
        description: "Set if the relay didn't try, because the address is on a suppression list of its own.",
      }),
    })
    .optional()
    .meta({ description: 'Why the email was rejected.' }),
});
const domain = z.looseObject({
  domain: z
    .looseObject({
      id: z.string().meta({ description: 'Domain ID with the prefix `dom_`.' }),
      name: z.string().meta({ description: 'The domain name.' }),
      status: z.string().meta({ description: 'The status after the event.' }),
      status_reason: z.string().nullable().meta({ description: 'The reason for the status. null: none.' }),
    })
    .meta({ description: 'The sending domain.' }),
});
const suppression = z.looseObject({
  suppression: z
    .looseObject({
      id: z.string().meta({ description: 'Suppression ID with the prefix `sup_`.' }),
      email: z.string().meta({ description: 'The suppressed address.' }),
      source: z.string().meta({ description: 'How the address was added.' }),
      reason: z
        .string()
        .nullable()
        .meta({ description: 'The server response, or the reason from the request. null: none.' }),
      source_event_id: z
        .string()
        .nullable()
        .meta({ description: 'The event that caused it. null: added manually or imported.' }),
    })
    .meta({ description: 'The suppression list entry.' }),
});
const webhook = z.looseObject({
  webhook: z
    .looseObject({
      id: z.string().meta({ description: 'Webhook ID with the prefix `whk_`.' }),
      url: z.string().meta({ description: 'The URL of the endpoint.' }),
      status: z.string().meta({ description: 'enabled or disabled.' }),
      reason: z.string().meta({ description: 'failing: repeated failures. gone: a 410 response.' }),
      failing_since: timeField
        .nullable()
        .meta({ description: 'The time of its first failure since its last success. null with webhook.disabled.' }),
    })
    .meta({ description: 'The webhook endpoint.' }),
});
const quota = z.looseObject({
  quota: z
    .looseObject({
      limit: z.int().meta({ description: 'Emails allowed this month.' }),
      used: z.int().meta({ description: 'Emails this month, one per unique recipient.' }),
      resets_at: timeField.meta({ description: 'When the next month starts, in UTC.' }),
    })
    .meta({ description: 'The monthly volume and its use.' }),
});

const exampleDomain = { id: exampleId('dom_'), name: 'example.com', status: 'verified', status_reason: null };
const exampleSuppression = {
  id: exampleId('sup_'),
  email: 'ada@example.net',
  source: 'bounce',
  reason: '550 5.1.1 No such user',
  source_event_id: exampleId('evt_'),
};
const exampleWebhook = {
  id: exampleId('whk_'),
  url: 'https://example.com/hooks/postrider',
  status: 'enabled',
  reason: 'failing',
  failing_since: '2030-01-30T09:00:00.000Z',
};

/** All events: the source for webhook subscriptions, GET /events and the docs. */
export const eventCatalogue = {
  'email.queued': {
    summary: 'An email was queued for its first attempt.',
    about: 'message',
    facts: no_facts,
    example: {},
  },
  'email.scheduled': { summary: 'An email was scheduled.', about: 'message', facts: no_facts, example: {} },
  'email.delivered': {
    summary: "The recipient's server, or the relay, accepted the email.",
    about: 'recipient',
    facts: attempted.extend({
      captured: z.literal(true).optional().meta({
        description: 'Set if the email went to the test inbox instead of a mail server.',
      }),
      relayed: z.literal(true).optional().meta({
        description: "Set if a relay accepted the email. Missing: the recipient's server did.",
      }),
    }),
    example: { attempt: 1, response: '250 2.0.0 Ok' },
  },
  'email.delivery_delayed': {
    summary: 'An attempt was deferred and will be retried, or a later report says that the email is still in transit.',
    about: 'recipient',
    facts: attempted,
    example: { attempt: 1, response: '451 4.7.1 Try again later' },
  },
  'email.bounced': {
    summary: 'The email was permanently rejected, either immediately or in a later report.',
    about: 'recipient',
    facts: bounced,
    example: {
      attempt: 1,
      response: '550 5.1.1 No such user',
      bounce: { class: 'hard', category: 'mailbox', code: '5.1.1' },
    },
  },
  'email.complained': {
    summary: 'The recipient reported the email as spam.',
    about: 'recipient',
    facts: no_facts,
    example: {},
  },
  'email.failed': {
    summary: 'The last attempt failed; there are no more retries.',
    about: 'recipient',
    facts: attempted,
    example: { attempt: 15, response: '451 4.7.1 Try again later' },
  },
  'email.suppressed': {
    summary: 'Nothing was sent because the address is on the suppression list.',
    about: 'recipient',
    facts: z.looseObject({
      suppression_id: z.string().optional().meta({ description: 'The suppression that prevented the attempt.' }),
    }),
    example: { suppression_id: exampleId('sup_') },
  },
  'email.canceled': {
    summary: 'An email was canceled before it was sent.',
    about: 'message',
    facts: no_facts,
    example: {},
  },
  'domain.verified': {
    summary: "A domain's DNS records are correct; it can send.",
    about: 'domain',
    facts: domain,
    example: { domain: exampleDomain },
  },
  'domain.at_risk': {
    summary: 'A verified domain lost a required DNS record; it can send for 72 more hours.',
    about: 'domain',
    facts: domain,
    example: { domain: { ...exampleDomain, status: 'at_risk', status_reason: 'The DKIM record is missing.' } },
  },
  'domain.failed': {
    summary: 'A domain was not verified in time; it cannot send.',
    about: 'domain',
    facts: domain,
    example: { domain: { ...exampleDomain, status: 'failed', status_reason: 'The DKIM record is missing.' } },
  },
  'webhook.failing': {
    summary: 'An endpoint has accepted no event for a day; after five days it is disabled.',
    about: 'webhook',
    facts: webhook,
    example: { webhook: exampleWebhook },
  },
  'webhook.disabled': {
    summary: 'An endpoint was disabled after a 410 response or five days without a success.',
    about: 'webhook',
    facts: webhook,
    example: { webhook: { ...exampleWebhook, status: 'disabled' } },
  },
  'suppression.added': {
    summary: 'An address was added to the suppression list.',
    about: 'suppression',
    facts: suppression,
    example: { suppression: exampleSuppression },
  },
  'suppression.removed': {
    summary: 'An address was removed from the suppression list, or its suppression expired.',
    about: 'suppression',
    facts: suppression.extend({
      cause: z.string().optional().meta({ description: 'deleted or expired.' }),
    }),
    example: { suppression: exampleSuppression, cause: 'deleted' },
  },
  'quota.warning': {
    summary: 'Usage reached 80% of the monthly volume.',
    about: 'workspace',
    facts: quota,
    example: { quota: { limit: 50_000, used: 40_000, resets_at: '2030-02-01T00:00:00.000Z' } },
  },
} as const satisfies Record<string, EventKind>;
export type EventType = keyof typeof eventCatalogue;

// The cast is safe because the keys are the types, and the table is not empty.
export const eventTypes = Object.keys(eventCatalogue) as [EventType, ...EventType[]];

type MessageEventType = {
  [T in EventType]: (typeof eventCatalogue)[T]['about'] extends 'message' ? T : never;
}[EventType];

/** Returns whether an event is about a message as a whole; every other email event is about one recipient. */
export function isMessageEvent(type: EventType): type is MessageEventType {
  return eventCatalogue[type].about === 'message';
}
