import { z } from 'zod';
import { type EventType, eventTypes } from '../../events/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { issueFor } from '../../operation/parse-input.ts';
import { keyModes } from '../../operation/secrets.ts';
import { webhookFormats } from './format.ts';
import { statusReasons, webhookStatuses } from './status.ts';
import type { WebhookRow } from './store.ts';

export const ALL_EVENTS = 'all';
export const formatField = z.enum(webhookFormats).meta({
  description: "Payload format: Postrider's own, or Resend's payload, event names and svix headers.",
});
export const webhookSchema = z
  .object({
    object: objectName('webhook'),
    id: idField(idPrefixes.webhook),
    url: z.string().meta({ description: 'The URL that receives the events.' }),
    description: z.string().nullable().meta({ description: 'A description for your team. null: none.' }),
    mode: z.enum(keyModes).meta({
      description:
        'The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events.',
    }),
    format: formatField,
    events: z.union([z.literal(ALL_EVENTS), z.array(z.string()).readonly()]).meta({
      description: 'The subscribed event types.',
      examples: [['email.delivered', 'email.bounced'], ALL_EVENTS],
    }),
    status: z.enum(webhookStatuses).meta({ description: 'disabled: it receives no events.' }),
    status_reason: z.enum(statusReasons).nullable().meta({ description: 'Why it was disabled.' }),
    secret_last4: z.string().meta({ description: 'The last characters of the secret, to identify it.' }),
    previous_secret_until: timeField.nullable().meta({ description: 'When the previous secret stops being valid.' }),
    created_at: timeField.meta({ description: 'When the webhook was added.' }),
    last_success_at: timeField.nullable().meta({ description: 'When it last returned 2xx, to the minute.' }),
    failing_since: timeField
      .nullable()
      .meta({ description: 'The time of its first failure, once no delivery has succeeded for ten minutes.' }),
    paused_until: timeField.nullable().meta({ description: 'Paused until this time after repeated failures.' }),
  })
  .meta({ id: 'Webhook' });
export type WebhookEntry = z.output<typeof webhookSchema>;

/** Only the responses that create or rotate a secret contain it. */
export const webhookWithSecretSchema = webhookSchema.extend({
  secret: z.string().meta({
    description: 'Returned once. Use it to verify Standard Webhooks signatures.',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDOU6xP4KVbjU='],
  }),
});
export type WebhookWithSecret = z.output<typeof webhookWithSecretSchema>;

export function webhookEntry(row: WebhookRow): WebhookEntry {
  const time = (at: Date | null) => at && isoTime(at);
  return {
    object: 'webhook',
    id: row.id,
    url: row.url,
    description: row.description,
    mode: row.mode,
    format: row.format,
    events: row.events ?? ALL_EVENTS,
    status: row.status,
    status_reason: row.status_reason,
    secret_last4: row.secret_last4,
    previous_secret_until: time(row.previous_secret_until),
    created_at: isoTime(row.created_at),
    last_success_at: time(row.last_success_at),
    failing_since: time(row.failing_since),
    paused_until: time(row.paused_until),
  };
}

/** null: all types, including those of later releases; undefined: the input was null, which counts as absent. */
export const eventsField = z
  .unknown()
  .meta({
    anyOf: [
      { const: ALL_EVENTS },
      { type: 'array', items: { type: 'string', enum: eventTypes }, minItems: 1 },
      { type: 'null' },
    ],
    default: ALL_EVENTS,
    description: `${ALL_EVENTS}, or a list of event types.`,
    examples: [['email.delivered', 'email.bounced']],
  })
  .transform((value, context) => {
    if (value === null) return undefined;
    if (value === ALL_EVENTS) return null;
    if (Array.isArray(value) && value.length > 0) {
      const known = value.filter((type): type is EventType => eventTypes.some((one) => one === type));
      if (known.length === value.length) return [...new Set(known)].sort();
    }
    context.addIssue(
      issueFor('invalid_type', `events must be "${ALL_EVENTS}" or a list of any of ${eventTypes.join(', ')}.`),
    );
    return z.NEVER;
  });

export const descriptionField = z
  .string()
  .max(200)
  .meta({ examples: ['Shop'] });

export function webhookNotFound(id: string): AppError {
  return new AppError(
    'webhook_not_found',
    `No webhook with ID ${id.slice(0, 64)} in this workspace. List webhooks with GET /v1/webhooks.`,
  );
}
