import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Actor, ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { DecryptionError } from '../process/encryption.ts';
import { type BulkCommand, bulkActions } from './command.ts';

const PURPOSE = 'bulk preview';

/** A frozen preview. It contains the id of the operation, so a token starts at most one operation. */
export interface Frozen extends Omit<BulkCommand, 'actor'> {
  readonly id: string;
  readonly matched: number;
  readonly matched_exact: boolean;
  readonly expires_at: Date;
}

/** How long a preview is valid. */
export const VALID_MS = 15 * 60_000;
// Length of the hash of the caller's name. A short hash is enough because the token is encrypted, and keeps the token
// easy to paste.
const NAME_BYTES = 12;

const writtenSchema = z.tuple([
  z.string(),
  z.string(),
  z.enum(bulkActions),
  z.unknown(),
  z.number(),
  z.boolean(),
  z.number(),
  z.string(),
]);
type TokenContent = z.output<typeof writtenSchema>;

/**
 * Encrypts a preview with the root key: the token cannot be forged or changed, and does not reveal the addresses in a
 * filter.
 */
export function writeToken(ctx: ActorContext, frozen: Omit<Frozen, 'expires_at'>): string {
  const { id, workspace_id, action, filter, matched, matched_exact, cutoff_at } = frozen;
  const content: TokenContent = [
    id,
    workspace_id,
    action,
    filter,
    matched,
    matched_exact,
    cutoff_at.getTime(),
    callerHash(ctx),
  ];
  return ctx.encryption.encrypt(Buffer.from(JSON.stringify(content)), PURPOSE).toString('base64url');
}

export function readToken(ctx: ActorContext, token: string): Frozen {
  const encrypted = Buffer.from(token, 'base64url');
  if (encrypted.toString('base64url') !== token) throw invalidPreview();
  const read = writtenSchema.safeParse(JSON.parse(open(ctx, encrypted)));
  if (!read.success) throw invalidPreview();
  const [id, workspace_id, action, filter, matched, matched_exact, cutoff, actor] = read.data;
  if (actor !== callerHash(ctx)) throw invalidPreview();
  return {
    ...{ id, workspace_id, action, filter, matched, matched_exact },
    cutoff_at: new Date(cutoff),
    expires_at: new Date(cutoff + VALID_MS),
  };
}

export function invalidPreview(): AppError {
  return new AppError(
    'invalid_preview',
    'token is not from one of your previews in the last 15 minutes. Preview again and use the new token.',
  );
}

function open(ctx: ActorContext, encrypted: Buffer): string {
  try {
    return ctx.encryption.decrypt(encrypted, PURPOSE).toString('utf8');
  } catch (error) {
    if (error instanceof DecryptionError) throw invalidPreview();
    throw error;
  }
}

/** Hashes the caller, so that only the actor who previewed may run it. */
function callerHash({ actor }: ActorContext): string {
  return createHash('sha256').update(callerOf(actor)).digest().subarray(0, NAME_BYTES).toString('base64url');
}

function callerOf(actor: Actor): string {
  switch (actor.kind) {
    case 'key':
      return `key ${actor.workspace_id} ${actor.key_id}`;
    case 'user':
      return `user ${actor.workspace_id} ${actor.user_id}`;
    case 'system':
      return `system ${actor.workspace_id}`;
  }
}
