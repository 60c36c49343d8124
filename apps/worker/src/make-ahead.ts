import type { Claimed } from '@postrider/core/delivery';

export interface MakeAhead {
  /** A claimed mail that waits for its place. */
  add(claimed: Claimed): void;
  /** It is being sent, or will not be. Whoever holds what this returns keeps the bytes in memory. */
  take(claimed: Claimed): Promise<unknown> | null;
}

/**
 * Makes and signs the mails that come next, in order, while those before them are being sent: otherwise each
 * connection would stand still for a signature. Only so many are made ahead, and a large one never is.
 */
export function createMakeAhead(most: number): MakeAhead {
  const waiting = new Set<Claimed>();
  const made = new Map<Claimed, Promise<unknown>>();

  const makeNext = () => {
    for (const claimed of waiting) {
      if (made.size >= most) return;
      waiting.delete(claimed);
      const bytes = claimed.content.raw();
      // What goes wrong here goes wrong again in the attempt, which records it.
      bytes.catch(() => undefined);
      made.set(claimed, bytes);
    }
  };

  return {
    add(claimed) {
      if (claimed.content.large) return;
      waiting.add(claimed);
      makeNext();
    },
    take(claimed) {
      const bytes = made.get(claimed) ?? null;
      waiting.delete(claimed);
      made.delete(claimed);
      makeNext();
      return bytes;
    },
  };
}
