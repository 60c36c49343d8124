import { composeBriefly, type OutgoingMessage } from '../compose/compose.ts';
import { type DkimKey, signDkim } from './dkim.ts';

/**
 * Combines compose and signDkim with one copy less: the signer reads the message in the writer's buffer. Throws errors
 * of compose synchronously; errors of the keys reject the promise.
 */
export function composeSigned(
  message: OutgoingMessage,
  keys: readonly DkimKey[],
  at: Date,
  left_out?: ReadonlySet<string>,
): Promise<Buffer> {
  return signDkim(composeBriefly(message), keys, at, left_out);
}
