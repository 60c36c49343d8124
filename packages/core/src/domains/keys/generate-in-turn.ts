import type { ActorContext } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { ShareRejected } from '../../shares/index.ts';
import { type DkimPairs, generateDkimPairs } from '../records/dkim-keys.ts';

const RETRY_SECONDS = 5;

/**
 * Generates the private keys of one domain when it is the workspace's turn. The thread pool also hashes passwords and
 * reads files, so no workspace may fill it with keys.
 */
export async function generateInTurn(
  { key_line, actor }: Pick<ActorContext, 'key_line' | 'actor'>,
  with_ed25519 = false,
): Promise<DkimPairs> {
  const leave = await key_line.enter(actor.workspace_id).catch((error: unknown) => {
    throw error instanceof ShareRejected ? busy() : error;
  });
  try {
    return await generateDkimPairs(with_ed25519);
  } finally {
    leave();
  }
}

function busy(): AppError {
  return new AppError(
    'dkim_keys_busy',
    'Too many DKIM keys of this workspace are being generated. Add or rotate fewer domains in parallel and retry later.',
    { retry_after_seconds: RETRY_SECONDS },
  );
}
