import { AppError } from '@postrider/core';

// A body of 14 MiB takes several times that while it is parsed and stored, so about nine of these are read at once.
const TOTAL_BYTES = 128 * 1024 * 1024;
// Nobody fills it alone.
const ONE_SENDER_BYTES = TOTAL_BYTES / 2;
const MOST_WAIT_MS = 20_000;

export interface BodyBudget {
  /** Waits until so many bytes may be read for a sender; whoever was let in calls what this returns when it is done. */
  enter(sender: string, bytes: number): Promise<() => void>;
}

interface Waiting {
  readonly sender: string;
  readonly bytes: number;
  letIn(): void;
}

/** Lets large bodies in one after another: a thousand sockets that send one each would fill the memory together. */
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
  /** In the order of arrival, but past those whose sender has its share. */
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
        reject(new AppError('unexpected', 'Too many large requests are being read; send it again in a while.'));
      }, MOST_WAIT_MS);
      waiting.add(one);
      next();
      return promise;
    },
  };
}
