import type { Content } from '@postrider/core/delivery';

/** A claimed mail that waits for its place. */
export interface Waiting {
  /** It is being sent, or will not be. Whoever holds what this returns keeps the bytes in memory. */
  take(): Promise<unknown> | null;
}

/**
 * Makes and signs the mails that come next, in order, while those before them are being sent: otherwise each
 * connection would stand still for a signature. Only so many are made ahead, and a large one never is.
 * Who waits stands in an array for the reason that the roster tells.
 */
export function createMakeAhead(most: number): (content: Content) => Waiting {
  const line: (() => void)[] = [];
  let made = 0;

  const makeNext = () => {
    while (made < most) {
      const make = line.shift();
      if (!make) return;
      made += 1;
      make();
    }
  };

  return (content) => {
    let bytes: Promise<unknown> | null = null;
    const make = () => {
      const making = content.raw();
      // What goes wrong here goes wrong again in the attempt, which records it.
      making.catch(() => undefined);
      bytes = making;
    };
    if (!content.large) {
      line.push(make);
      makeNext();
    }
    return {
      take() {
        const taken = bytes;
        bytes = null;
        if (taken) made -= 1;
        else remove(line, make);
        makeNext();
        return taken;
      },
    };
  };
}

function remove<T>(list: T[], one: T): void {
  const place = list.indexOf(one);
  if (place >= 0) list.splice(place, 1);
}
