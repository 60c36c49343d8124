import { isoTime } from '../fields/clock.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { DecryptionError } from '../process/encryption.ts';
import type { BulkCommand } from './command.ts';

const PURPOSE = 'bulk preview';

/** A frozen preview. It holds the id of the operation, so a token starts at most one. */
export interface Frozen extends Omit<BulkCommand, 'actor'> {
  readonly id: string;
  readonly matched: number;
  readonly matched_exact: boolean;
  readonly expires_at: Date;
}

interface Written {
  readonly frozen: Omit<Frozen, 'cutoff_at' | 'expires_at'>;
  readonly cutoff_at: string;
  readonly expires_at: string;
  readonly actor: string;
}

/** Encrypted with the root key: it cannot be forged or changed, and the addresses of a filter cannot be read in it. */
export function writeToken(ctx: ActorContext, { cutoff_at, expires_at, ...frozen }: Frozen): string {
  const written: Written = {
    frozen,
    cutoff_at: isoTime(cutoff_at),
    expires_at: isoTime(expires_at),
    actor: nameOf(ctx),
  };
  return ctx.encryption.encrypt(Buffer.from(JSON.stringify(written)), PURPOSE).toString('base64url');
}

export function readToken(ctx: ActorContext, token: string): Frozen {
  const encrypted = Buffer.from(token, 'base64url');
  if (encrypted.toString('base64url') !== token) throw invalidPreview();
  // Anything that decrypts was written above.
  const written = JSON.parse(open(ctx, encrypted)) as Written;
  if (written.actor !== nameOf(ctx)) throw invalidPreview();
  return {
    ...written.frozen,
    cutoff_at: new Date(written.cutoff_at),
    expires_at: new Date(written.expires_at),
  };
}

export function invalidPreview(): AppError {
  return new AppError(
    'invalid_preview',
    'token is not from a preview of yours in the last 15 minutes; preview again and use the new token.',
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

/** Only the actor who previewed may run it. */
function nameOf({ actor }: ActorContext): string {
  switch (actor.kind) {
    case 'key':
      return `key ${actor.workspace_id} ${actor.key_id}`;
    case 'user':
      return `user ${actor.workspace_id} ${actor.user_id}`;
    case 'system':
      return `system ${actor.workspace_id}`;
  }
}
