import { composeBriefly, type OutgoingMessage } from './compose.ts';
import { type DkimKey, signDkim } from './dkim.ts';

/**
 * What compose and signDkim make, with one copy less: the signer reads the mail where it was written. Throws at once
 * what compose throws; the promise is rejected by what the keys did.
 */
export function composeSigned(message: OutgoingMessage, keys: readonly DkimKey[], at: Date): Promise<Buffer> {
  return signDkim(composeBriefly(message), keys, at);
}
