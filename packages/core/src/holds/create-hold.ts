import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { idField } from '../fields/wire.ts';
import { isOperator } from '../operation/access.ts';
import type { Actor, ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { expiryFacts } from './end-expired.ts';
import { type HeldThing, heldThing } from './held-thing.ts';
import { type HoldEntry, holdEnd, holdEntry, holdSchema } from './hold-entry.ts';
import { rateField, requireRated } from './resume-rate.ts';
import { holdScopes } from './scope.ts';
import { endExpired, type HoldRow, insertHold, liesAhead, NEVER, openHoldOn } from './store.ts';

const DEFAULT_SECONDS = 86_400;
const MAX_DAYS = 30;
const MAX_REASON_LENGTH = 1000;

/**
 * Creates a hold, which pauses its target on every worker within two seconds, without losing messages or using up
 * retries.
 */
export const createHold = operation({
  name: 'holds.create',
  // The target determines which scope is required.
  scope: null,
  summary: 'Hold the instance, a queue, a destination, a sending domain, an API key or a webhook',
  input: z.object({
    scope: z.enum(holdScopes),
    value: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'A queue name, a domain name or an ID; "all" for the instance.' }),
    reason: z.string().trim().min(1).max(MAX_REASON_LENGTH),
    expires_at: timestampField('expires_at')
      .optional()
      .meta({
        description: `When it expires. Default: in ${DEFAULT_SECONDS / 3600} hours, maximum: in ${MAX_DAYS} days. Instance holds do not expire by default.`,
      }),
    resume_rate_per_minute: rateField.optional().meta({
      description: 'The rate at which the backlog is sent after the hold. Default: no limit.',
    }),
    workspace_id: idField(idPrefixes.workspace).optional().meta({ description: 'The workspace (operators only).' }),
  }),
  output: holdSchema,
  async run(ctx, input): Promise<HoldEntry> {
    const target = await heldThing(ctx, input);
    const { reason, resume_rate_per_minute = null } = input;
    if (resume_rate_per_minute !== null) requireRated(target);
    const { expires_at = null } = input;
    return ctx.sql.begin(async (tx) => {
      if (expires_at !== null && !(await liesAhead(tx, expires_at, MAX_DAYS))) throw notAhead();
      const expired = await endExpired(tx, target);
      const id = newId('hold', ctx.clock.now());
      const row = await insertHold(tx, {
        ...target,
        id,
        reason,
        by: authorOf(ctx.actor),
        by_operator: isOperator(ctx.actor),
        expires_at: expires_at ?? (target.scope === 'instance' ? NEVER : null),
        default_seconds: DEFAULT_SECONDS,
        resume_rate_per_minute,
      });
      if (!row) throw holdExists(ctx, target, await openHoldOn(tx, target));
      const diff = { scope: row.scope, value: row.value, expires_at: holdEnd(row.expires_at), resume_rate_per_minute };
      await recordAudit(tx, ctx, [
        ...expiryFacts(expired),
        { action: 'hold.created', target_id: id, diff, reason, workspace_id: target.workspace_id },
      ]);
      return holdEntry(ctx, row, 0);
    });
  },
});

function notAhead(): AppError {
  return new AppError('invalid_timestamp', `expires_at must be in the future, by up to ${MAX_DAYS} days.`, {
    details: [{ param: 'expires_at', reason: 'invalid_timestamp', message: `Up to ${MAX_DAYS} days ahead.` }],
  });
}

function authorOf(actor: Actor): { kind: Actor['kind']; id: string; name: string } {
  switch (actor.kind) {
    case 'key':
      // The statement that stores the hold reads the key's name.
      return { kind: 'key', id: actor.key_id, name: '' };
    case 'user':
      return { kind: 'user', id: actor.user_id, name: actor.email };
    case 'system':
      return { kind: 'system', id: 'system', name: 'Postrider' };
  }
}

/**
 * Returns the error for a target that is already held. The error names the author of the existing hold, because two
 * people may act on the same target at the same time.
 */
function holdExists(ctx: ActorContext, { scope, value }: HeldThing, other: HoldRow | null): AppError {
  const other_entry = other && holdEntry(ctx, other, 0);
  const author = other_entry === null ? '' : `, by ${other_entry.created_by.name} since ${other_entry.created_at}`;
  return new AppError(
    'hold_exists',
    `${scope.replaceAll('_', ' ')} ${value} is already held${author}. Release that hold before you create another.`,
  );
}
