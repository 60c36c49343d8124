import type { SendOutcome } from '@postrider/mail';
import type { Classification, RefusalCategory } from './classify.ts';

/** A bounce as shown in events. */
export interface Bounce {
  /** hard: the mailbox or its domain does not exist. Anything uncertain is soft. */
  readonly class: 'hard' | 'soft';
  readonly category: RefusalCategory;
  /** The enhanced status code if there is one, else the reply code. */
  readonly code: string | null;
  /** Set if the relay did not try, because the address is on a suppression list of its own. */
  readonly reason?: 'relay_suppressed';
}

/** Returns the bounce for a rejection during the SMTP session. */
export function bounceOf({ hard, category }: Classification, { reply }: Pick<SendOutcome, 'reply'>): Bounce {
  const code = reply?.enhanced ?? (reply ? String(reply.code) : null);
  return { class: hard ? 'hard' : 'soft', category, code };
}
