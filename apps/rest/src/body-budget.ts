import { AppError } from '@postrider/core';

// A body of 14 MiB takes several times that while it is parsed and stored; this allows about nine at once.
const TOTAL_BYTES = 128 * 1024 * 1024;
// One sender cannot use all of it.
const ONE_SENDER_BYTES = TOTAL_BYTES / 2;
const MOST_WAIT_MS = 20_000;

export interface BodyBudget {
  /** Waits until the bytes fit the budget; call the returned function to release them. */
  enter(sender: string, bytes: number): Promise<() => void>;
}

interface Waiting {
  readonly sender: string;
  readonly bytes: number;
  letIn(): void;
}

/** A semaphore over bytes: a thousand large bodies read at once would fill the memory. */
export function createBodyBudget(total = TOTAL_BYTES, one_sender = ONE_SENDER_BYTES): BodyBudget {
  const waiting = new Set<Waiting>();
  const held = new Map<string, number>();
  let used = 0;

  const fits = ({ sender, bytes }: Waiting) => {
    const own = held.get(sender) ?? 0;
    return (used === 0 || used + bytes <= total) && (own === 0 || own + bytes <= one_sender);
  };
  const change = (sender: string, bytes: number) => {
    used += bytes;
    const own = (held.get(sender) ?? 0) + bytes;
    if (own === 0) held.delete(sender);
    else held.set(sender, own);
  };
  /** In order of arrival, skipping senders that have used up their share. */
  const next = () => {
    for (const one of waiting) {
      if (!fits(one)) continue;
      waiting.delete(one);
      change(one.sender, one.bytes);
      one.letIn();
    }
  };

  return {
    enter(sender, bytes) {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      let left = false;
      const leave = () => {
        if (left) return;
        left = true;
        change(sender, -bytes);
        next();
      };
      const one: Waiting = {
        sender,
        bytes,
        letIn() {
          clearTimeout(timer);
          resolve(leave);
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(one);
        reject(new AppError('unexpected', 'Too many large requests are being read; retry later.'));
      }, MOST_WAIT_MS);
      waiting.add(one);
      next();
      return promise;
    },
  };
}
