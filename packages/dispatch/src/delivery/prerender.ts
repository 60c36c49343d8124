import type { Content } from '@postrider/core/delivery';

/** A claimed message in the prerender queue. */
export interface Prerendered {
  /**
   * Leaves the prerender queue and frees the slot. Returns the rendered bytes, or null if they are not rendered yet.
   */
  take(): Promise<unknown> | null;
}

/**
 * Creates a queue that renders and signs the next messages, in order, while earlier messages are being sent. Otherwise
 * each connection would wait for a signature. The number is limited, and large messages are excluded. The queue is an
 * array for the reason given in createInFlightSet.
 */
export function createPrerender(max: number): (content: Content) => Prerendered {
  const line: (() => void)[] = [];
  let count = 0;

  const makeNext = () => {
    while (count < max) {
      const make = line.shift();
      if (!make) return;
      count += 1;
      make();
    }
  };

  return (content) => {
    let bytes: Promise<unknown> | null = null;
    const make = () => {
      const making = content.raw();
      // An error here recurs during the attempt, which records it.
      making.catch(() => undefined);
      bytes = making;
    };
    if (!content.large) {
      line.push(make);
      makeNext();
    }
    return {
      take() {
        const current = bytes;
        bytes = null;
        if (current) count -= 1;
        else remove(line, make);
        makeNext();
        return current;
      },
    };
  };
}

function remove<T>(list: T[], one: T): void {
  const place = list.indexOf(one);
  if (place >= 0) list.splice(place, 1);
}
