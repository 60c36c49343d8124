import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { hashSecret } from '../operation/secrets.ts';
import { lockTransports, noteChange, requireOwn, transportById } from '../transports/index.ts';
import { newWebhookSecret } from '../webhooks/index.ts';
import { openSecrets, sealSecrets } from './feedback-secrets.ts';
import {
  dropFeedback,
  type EventRow,
  type FeedbackRow,
  feedbackOf,
  lastEvents,
  putFeedback,
} from './feedback-store.ts';
import { type FeedbackFacts, type FeedbackProvider, feedbackKinds } from './provider.ts';
import { feedbackProviders, type ProviderName, providerNames } from './providers.ts';

const TOKEN_BYTES = 16;
const PASSWORD_BYTES = 16;
const MAX_SECRET_LENGTH = 1000;
const OVERLAP_SECONDS = 86_400;
const LAST_EVENTS = 20;

const eventSchema = z.object({
  event_id: z.string().meta({ description: 'The ID that the relay gave it.' }),
  kind: z.enum(feedbackKinds).meta({ description: 'What the relay reports.' }),
  state: z
    .enum(['pending', 'recorded', 'ignored', 'unmatched'])
    .meta({ description: 'pending: matched again for 15 minutes. unmatched: no email of this transport.' }),
  email_id: z.string().nullable().meta({ description: 'The email that it was matched with. null: none yet.' }),
  recipient: z
    .string()
    .nullable()
    .meta({ description: 'The recipient that the relay named, as long as no email was matched.' }),
  detail: z.string().nullable().meta({ description: 'Why it changed nothing. null: it did.' }),
  received_at: timeField.meta({ description: 'When it was received.' }),
});
const feedbackFields = {
  object: objectName('transport_feedback'),
  transport_id: z.string().meta({ description: 'The transport.' }),
  provider: z.enum(providerNames).meta({ description: 'How the relay reports.' }),
  url: z.string().meta({ description: 'Where the relay sends its reports.' }),
  previous_until: timeField
    .nullable()
    .meta({ description: 'Until when the previous URL and secret are accepted. null: there are none.' }),
  confirmed_at: timeField
    .nullable()
    .meta({ description: 'When the last request with a valid signature was received. null: never.' }),
  rejected_at: timeField
    .nullable()
    .meta({ description: 'When the last request without a valid signature was received. null: never.' }),
  rejection: z
    .string()
    .nullable()
    .meta({ description: 'The problem with its signature. null: there was no such request.' }),
};
const feedbackSchema = z.object({
  ...feedbackFields,
  events: z
    .array(eventSchema)
    .readonly()
    .meta({ description: `The last ${LAST_EVENTS} events, the newest first.` }),
});
export type TransportFeedback = z.output<typeof feedbackSchema>;
const newFeedbackSchema = z.object({
  ...feedbackFields,
  secret: z
    .string()
    .nullable()
    .meta({ description: "Proves the requests. Only returned now. null: it is the provider's." }),
});
export type NewTransportFeedback = z.output<typeof newFeedbackSchema>;

const target = { transport_id: idField(idPrefixes.transport) };

/** Returns where a relay reports and what it reported; null if it is not set up. */
export const getFeedback = operation({
  name: 'transports.feedback',
  scope: null,
  summary: 'Get the feedback of a relay',
  reasons: ['transport_not_found'],
  input: z.object(target),
  output: feedbackSchema.nullable(),
  async run(ctx, { transport_id: id }): Promise<TransportFeedback | null> {
    requireOwn(ctx, id, await transportById(ctx.sql, id));
    const row = await feedbackOf(ctx.sql, id);
    return row && { ...feedbackEntry(ctx, row), events: (await lastEvents(ctx.sql, id, LAST_EVENTS)).map(eventEntry) };
  },
});

/**
 * Sets up the feedback of a relay, or replaces its address and secret: the previous ones are accepted for a day, so that
 * the relay can switch at any time during that day.
 */
export const setFeedback = operation({
  name: 'transports.set_feedback',
  scope: null,
  summary: 'Set up the feedback of a relay, or replace its URL and secret',
  reasons: ['transport_not_found', 'misplaced_field', 'missing_field', 'invalid_type', 'reauthentication_required'],
  input: z.object({
    ...target,
    provider: z.enum(providerNames).meta({
      description: 'The form of the reports. generic: any relay, by Standard Webhooks.',
    }),
    secret: z.string().trim().min(1).max(MAX_SECRET_LENGTH).optional().meta({
      description:
        "The provider's own: the ARN of the SNS topic for Amazon SES, SendGrid's verification key, Mailgun's HTTP webhook signing key, Resend's signing secret. The other providers use a new one of ours.",
    }),
  }),
  output: newFeedbackSchema,
  async run(ctx, { transport_id: id, provider, secret: theirs }): Promise<NewTransportFeedback> {
    await requireFreshSignIn(ctx);
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const secret = secretFor(provider, theirs);
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      const transport = requireOwn(ctx, id, await transportById(tx, id));
      if (transport.kind !== 'smtp')
        throw new AppError('misplaced_field', 'Only relays report bounces and complaints.', {
          details: [{ param: 'transport_id', reason: 'misplaced_field', message: 'Only for kind smtp.' }],
        });
      const before = await feedbackOf(tx, id);
      const previous = before && openSecrets(ctx, before).secret;
      const secrets = sealSecrets(ctx, id, { token, secret, ...(previous !== null && { previous }) });
      const values = { transport_id: id, provider, secrets, token_hash: hashSecret(token) };
      const row = await putFeedback(tx, values, before ? OVERLAP_SECONDS : 0);
      // Workers have to send the reference with each email from now on.
      await noteChange(tx, transport.workspace_id);
      await audit(tx, ctx, 'transport.feedback_set', transport, { provider });
      return { ...feedbackEntry(ctx, row), secret: theirs === undefined ? secret : null };
    });
  },
});

/** Returns the secret that proves the posts: the provider's own, or a new one of ours. */
function secretFor(provider: ProviderName, theirs: string | undefined): string {
  const { secret: owner, secretProblem }: FeedbackProvider = feedbackProviders[provider];
  const is_theirs = owner === 'theirs';
  if (is_theirs && theirs === undefined) throw badSecret('missing_field', `${provider} shows a secret to enter here.`);
  if (!is_theirs && theirs !== undefined) throw badSecret('misplaced_field', `${provider} uses a secret of ours.`);
  if (theirs !== undefined) {
    const problem = secretProblem?.(theirs) ?? null;
    if (problem !== null) throw badSecret('invalid_type', problem);
    return theirs;
  }
  const secret = newWebhookSecret();
  // A password has to be typed into a form, and possibly into a URL.
  return provider === 'generic' ? secret : randomBytes(PASSWORD_BYTES).toString('hex');
}

function badSecret(reason: 'missing_field' | 'misplaced_field' | 'invalid_type', message: string): AppError {
  return new AppError(reason, message, { details: [{ param: 'secret', reason, message }] });
}

/** Rejects reports of a relay from now on, and deletes those it sent. */
export const removeFeedback = operation({
  name: 'transports.remove_feedback',
  scope: null,
  summary: 'Remove the feedback of a relay',
  reasons: ['transport_not_found'],
  input: z.object(target),
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  async run(ctx, { transport_id: id }) {
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      const transport = requireOwn(ctx, id, await transportById(tx, id));
      await dropFeedback(tx, id);
      await noteChange(tx, transport.workspace_id);
      await audit(tx, ctx, 'transport.feedback_removed', transport, {});
      return { id, deleted: true } as const;
    });
  },
});

async function audit(
  tx: Parameters<typeof recordAudit>[0],
  ctx: ActorContext,
  action: 'transport.feedback_set' | 'transport.feedback_removed',
  { id, workspace_id }: { readonly id: string; readonly workspace_id: string | null },
  diff: Record<string, string>,
): Promise<void> {
  await recordAudit(tx, ctx, [{ action, target_id: id, workspace_id: workspace_id ?? INSTANCE, diff }]);
}

function feedbackEntry(ctx: ActorContext, row: FeedbackRow) {
  return {
    object: 'transport_feedback' as const,
    transport_id: row.transport_id,
    // The cast is safe because only names of the table are stored.
    provider: row.provider as TransportFeedback['provider'],
    url: `${ctx.public_url}/feedback/${openSecrets(ctx, row).token}`,
    previous_until: row.previous_until && isoTime(row.previous_until),
    confirmed_at: row.confirmed_at && isoTime(row.confirmed_at),
    rejected_at: row.rejected_at && isoTime(row.rejected_at),
    rejection: row.rejection,
  };
}

function eventEntry({ facts, received_at, message_id, ...row }: EventRow): TransportFeedback['events'][number] {
  // The cast is safe because the reports of a provider are stored as JSON.
  const { recipient = null } = JSON.parse(facts) as FeedbackFacts;
  return { ...row, email_id: message_id, recipient, received_at: isoTime(received_at) };
}
