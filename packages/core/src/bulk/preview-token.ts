import { isoTime } from '../clock.ts';
import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { SealError } from '../sealing.ts';
import type { Errand } from './errand.ts';

const PURPOSE = 'bulk preview';

/** What a preview has frozen. The operation has its id already, so a token starts one operation and no more. */
export interface Frozen extends Omit<Errand, 'actor'> {
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

/** Sealed under the root key: nobody can make one or change it, and the addresses of a filter cannot be read in it. */
export function writeToken(ctx: ActorContext, { cutoff_at, expires_at, ...frozen }: Frozen): string {
  const written: Written = {
    frozen,
    cutoff_at: isoTime(cutoff_at),
    expires_at: isoTime(expires_at),
    actor: nameOf(ctx),
  };
  return ctx.sealing.seal(Buffer.from(JSON.stringify(written)), PURPOSE).toString('base64url');
}

export function readToken(ctx: ActorContext, token: string): Frozen {
  const sealed = Buffer.from(token, 'base64url');
  if (sealed.toString('base64url') !== token) throw invalidPreview();
  // What the seal opens was written above.
  const written = JSON.parse(open(ctx, sealed)) as Written;
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
    'token is not one of a preview of yours from the last 15 minutes; preview again and run what that answers.',
  );
}

function open(ctx: ActorContext, sealed: Buffer): string {
  try {
    return ctx.sealing.open(sealed, PURPOSE).toString('utf8');
  } catch (error) {
    if (error instanceof SealError) throw invalidPreview();
    throw error;
  }
}

/** Whoever previewed runs it: what they have seen is what they answer for. */
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
