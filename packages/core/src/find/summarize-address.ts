import { domainOf } from '@postrider/mail';
import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName } from '../fields/wire.ts';
import { holdEnd, holdSchema, holdsOnMail } from '../holds/index.ts';
import { type LogEntry, listMessages, logEntrySchema } from '../messages/index.ts';
import { accessibleMode } from '../operation/access.ts';
import { invoke, operation } from '../operation/operation.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { addressField, readSuppressionsByEmail, suppressionSchema } from '../suppressions/index.ts';
import { allowed } from './things-by-id.ts';

const MAX_EMAILS = 5;

const summarySchema = z
  .object({
    object: objectName('address'),
    email: z.string(),
    suppression: suppressionSchema
      .nullable()
      .meta({ description: 'null if the address is not suppressed, or for a sandbox key.' }),
    holds: z
      .array(
        z.object({
          id: idField(idPrefixes.hold),
          scope: holdSchema.shape.scope,
          reason: z.string(),
          expires_at: holdSchema.shape.expires_at,
        }),
      )
      .readonly()
      .meta({
        description: 'The active holds on the listed emails and, for administrators, on all email to the address.',
      }),
    emails: z
      .array(
        logEntrySchema.pick({ id: true, subject: true, created_at: true }).extend({
          recipient_id: idField(idPrefixes.recipient),
          status: logEntrySchema.shape.status.meta({ description: "This recipient's status." }),
          captured: z.boolean(),
        }),
      )
      .readonly()
      .meta({ description: `The newest emails to the address, at most ${MAX_EMAILS}.` }),
  })
  .meta({ id: 'AddressSummary' });
export type AddressSummary = z.output<typeof summarySchema>;

/** Summarizes an address: its suppression, the holds on its email, and how its newest emails ended. */
export const summarizeAddress = operation({
  name: 'addresses.summary',
  scope: 'email:logs:read',
  sandbox: true,
  summary: "An address's suppression, holds and newest emails",
  input: z.object({ email: addressField }),
  output: summarySchema,
  async run(ctx, { email }): Promise<AddressSummary> {
    const [log, suppressions] = await Promise.all([
      invoke(ctx, listMessages, { to: email, limit: MAX_EMAILS }),
      allowed(() => invoke(ctx, readSuppressionsByEmail, { ids: [email] })),
    ]);
    const entries = log.data.flatMap((entry) => recipientOf(entry, email));
    const waits_for = entries.flatMap(({ recipient }) => recipient.waiting?.hold?.id ?? []);
    const holds = await holdsOnMail(ctx.sql, ctx.actor.workspace_id, {
      // Captured email has no destination, and a sandbox key's email is always captured.
      domain: accessibleMode(ctx.actor) === 'sandbox' ? null : domainOf(email),
      ids: waits_for,
    });
    // As in holds.list, only administrators see what holds email other than their own.
    const sees_all = scopeRefusal(ctx.actor, 'admin') === null;
    return {
      object: 'address',
      email,
      suppression: suppressions[0] ?? null,
      holds: holds
        .filter(({ id }) => sees_all || waits_for.includes(id))
        .map(({ id, scope, reason, expires_at }) => ({ id, scope, reason, expires_at: holdEnd(expires_at) })),
      emails: entries.map(({ entry: { id, subject, created_at }, recipient }) => {
        const { id: recipient_id, status, captured } = recipient;
        return { id, recipient_id, subject, status, captured, created_at };
      }),
    };
  },
});

function recipientOf(entry: LogEntry, email: string) {
  const recipient = entry.recipients.find((one) => one.email.toLowerCase() === email.toLowerCase());
  return recipient ? [{ entry, recipient }] : [];
}
