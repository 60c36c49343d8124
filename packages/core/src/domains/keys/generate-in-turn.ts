import type { ActorContext } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { ShareRejected } from '../../shares/index.ts';
import { type DkimPairs, generateDkimPairs } from '../records/dkim-keys.ts';

const RETRY_SECONDS = 5;

/**
 * Generates the private keys of one domain when it is the owner's turn. The thread pool also hashes passwords and reads
 * files, so no workspace may fill it with keys.
 */
export async function generateInTurn(
  ctx: ActorContext,
  owner: string,
  with_ed25519: boolean = false,
): Promise<DkimPairs> {
  const checked_at = performance.now();
  const leave = await ctx.key_line.enter(owner).catch((error: unknown) => {
    throw error instanceof ShareRejected ? busy() : error;
  });
  try {
    await ctx.requireAdmittedSince(ctx, checked_at);
    return await generateDkimPairs(with_ed25519);
  } finally {
    leave();
  }
}

function busy(): AppError {
  return new AppError(
    'dkim_keys_busy',
    `Too many DKIM keys are waiting to be generated. Retry in ${RETRY_SECONDS} s.`,
    {
      retry_after_seconds: RETRY_SECONDS,
    },
  );
}
