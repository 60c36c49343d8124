import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { absentable } from '../fields/absentable.ts';
import { newId } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError, errorFields, publicErrorSchema, refuseFields } from '../operation/errors.ts';
import { operation, type Parsed } from '../operation/operation.ts';
import { issueFor, parseInput } from '../operation/parse-input.ts';
import { addressField } from './address-field.ts';
import type { SuppressionSource } from './source.ts';
import { addSuppressions, type NewSuppression } from './store.ts';
import { type SuppressionEntry, suppressionEntry, suppressionSchema } from './suppression-entry.ts';

const MAX_ENTRIES = 1000;

const entryFields = {
  reason: z
    .string()
    .max(500)
    .nullish()
    .meta({ description: 'A description for your team.', examples: ['asked by phone'] }),
  expires_at: timestampField('expires_at')
    .nullish()
    .meta({ description: 'When the suppression expires. null: never.' }),
};
const entrySchema = z.object({ email: addressField, ...entryFields });
type NewEntry = z.output<typeof entrySchema>;

// The docs show the schema of an entry; at runtime each entry is parsed separately, so that one invalid entry does not
// reject the others.
const { $schema: _, ...shownEntry } = z.toJSONSchema(entrySchema, { io: 'input' });
const anyEntry = z.unknown().meta(shownEntry);

const inputSchema = z
  .object({
    email: absentable(addressField).meta({ description: 'The address to suppress, without a display name.' }),
    ...entryFields,
    suppressions: absentable(z.array(anyEntry).min(1).max(MAX_ENTRIES)).meta({
      description: `Up to ${MAX_ENTRIES} entries instead of a single email, each added or rejected individually.`,
    }),
  })
  .superRefine((input, context) => {
    if (input.suppressions === undefined) {
      if (input.email === undefined)
        context.addIssue(issueFor('missing_field', 'email is required, or suppressions with a list.', ['email']));
    } else if (input.email !== undefined || input.reason != null || input.expires_at != null) {
      const message =
        'suppressions cannot be combined with other fields. Set email, reason and expires_at on each entry.';
      context.addIssue(issueFor('invalid_type', message, ['suppressions']));
    }
  });

const importedSchema = z.object({
  data: z
    .array(z.union([suppressionSchema, z.object({ error: publicErrorSchema })]))
    .readonly()
    .meta({ description: 'One result per entry, in the order of the request.' }),
});
export type ImportedSuppressions = z.output<typeof importedSchema>;

/** Adds one or more addresses, each validated separately; an address already on the list is rejected. */
export const createSuppressions = operation({
  name: 'suppressions.create',
  scope: 'admin',
  summary: 'Suppress an address, or up to 1,000 addresses, each added or rejected individually',
  reasons: ['invalid_email', 'invalid_timestamp', 'suppression_exists'],
  input: inputSchema,
  output: z.union([suppressionSchema, importedSchema]),
  async run(ctx, { email, reason, expires_at, suppressions }): Promise<SuppressionEntry | ImportedSuppressions> {
    if (suppressions) {
      const results = await store(ctx, 'import', suppressions.map(readEntry));
      return { data: results.map((one) => (one instanceof AppError ? { error: errorFields(one) } : one)) };
    }
    // The schema guarantees that email is present.
    const entry = { email: email ?? '', reason, expires_at };
    const [result] = await store(ctx, 'manual', [{ ok: true, value: entry }]);
    if (!result || result instanceof AppError) throw result;
    return result;
  },
});

function readEntry(raw: unknown): Parsed<NewEntry> {
  return parseInput(entrySchema, raw);
}

/** Stores the valid entries in one transaction and returns a result for each entry, in order. */
async function store(
  ctx: ActorContext,
  source: SuppressionSource,
  entries: readonly Parsed<NewEntry>[],
): Promise<(SuppressionEntry | AppError)[]> {
  const { workspace_id } = ctx.actor;
  const now_ms = ctx.clock.now();
  return ctx.sql.begin(async (tx) => {
    const now = await transactionTime(tx);
    const results = entries.map((entry): NewSuppression | AppError => {
      if (!entry.ok) return entry.error;
      const { email, reason, expires_at } = entry.value;
      if (expires_at && expires_at <= now) return expired();
      return {
        workspace_id,
        id: newId('suppression', now_ms),
        event_id: newId('event', now_ms),
        email,
        source,
        reason: reason ?? null,
        source_event_id: null,
        expires_at: expires_at ?? null,
      };
    });
    const added = await addSuppressions(
      tx,
      results.filter((one): one is NewSuppression => !(one instanceof AppError)),
    );
    const [first] = added;
    if (source === 'import' && first) {
      const diff = { added: added.length, refused: entries.length - added.length };
      await recordAudit(tx, ctx, [{ action: 'suppression.imported', target_id: workspace_id, diff }]);
    } else if (first) {
      const { id, reason, expires_at } = first;
      await recordAudit(tx, ctx, [{ action: 'suppression.added', target_id: id, diff: { expires_at }, reason }]);
    }
    const stored = new Map(added.map((row) => [row.id, row]));
    return results.map((one) => {
      if (one instanceof AppError) return one;
      const row = stored.get(one.id);
      return row ? suppressionEntry(row) : exists(one.email);
    });
  });
}

function exists(email: string): AppError {
  return new AppError(
    'suppression_exists',
    `${email} is already suppressed. To change its reason or expiry, delete it first.`,
  );
}

function expired(): AppError {
  const message = 'expires_at is in the past. Use a future time or omit it.';
  return refuseFields([{ param: 'expires_at', reason: 'invalid_timestamp', message }]);
}
