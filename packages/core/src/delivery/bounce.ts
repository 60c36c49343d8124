import type { SendOutcome } from '@postrider/mail';
import type { Classification, RefusalCategory } from './classify.ts';

/** What a bounce means, as events show it. */
export interface Bounce {
  /** hard: there is no reader at the address. Whatever is not known is soft. */
  readonly class: 'hard' | 'soft';
  readonly category: RefusalCategory;
  /** The enhanced status code if there is one, else the reply code. */
  readonly code: string | null;
}

/** The bounce of a refusal in the session itself. */
export function bounceOf({ hard, category }: Classification, { reply }: Pick<SendOutcome, 'reply'>): Bounce {
  const code = reply?.enhanced ?? (reply ? String(reply.code) : null);
  return { class: hard ? 'hard' : 'soft', category, code };
}
