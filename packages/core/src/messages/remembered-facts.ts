import type { FoundKey } from '../api-keys/store.ts';
import type { SendableFacts } from '../domains/require-sendable.ts';

const MOST_REMEMBERED = 10_000;

export interface RememberedSender {
  readonly key: FoundKey;
  readonly allowance: number;
  readonly expires_at: Date | null;
}

/**
 * What this process has read of keys and domains, all in one epoch of the accept. It is good for nothing but
 * drafting: the statement that stores by it compares the epoch, so what has changed meanwhile is never used.
 */
export interface RememberedFacts {
  readonly epoch: number;
  /** By the credential's name; undefined also while the sender is in doubt. */
  sender(name: string): RememberedSender | undefined;
  domain(workspace_id: string, name: string): SendableFacts | undefined;
  /** Whether an address was suppressed when it was last looked up: a hint that storing at once would fail. */
  suppressed(workspace_id: string, email: string): boolean;
  learnSender(epoch: number, name: string, sender: RememberedSender): void;
  learnDomains(epoch: number, domains: ReadonlyMap<string, SendableFacts>): void;
  learnSuppressed(addresses: ReadonlySet<string>): void;
  /** A sender at one of its limits is judged by the tables for a while, so that it fails nobody's batch. */
  doubt(name: string, ms: number): void;
}

export function createRememberedFacts(): RememberedFacts {
  let epoch = 0;
  const senders = new Map<string, RememberedSender>();
  const domains = new Map<string, SendableFacts>();
  const suppressed = new Set<string>();
  const doubts = new Map<string, number>();

  /** Whether what was read in this epoch may stand beside the rest; answers may come in another order than they were made. */
  const enter = (read_in: number): boolean => {
    if (read_in > epoch) {
      epoch = read_in;
      senders.clear();
      domains.clear();
    }
    return read_in === epoch;
  };

  return {
    get epoch() {
      return epoch;
    },
    sender(name) {
      const until = doubts.get(name);
      if (until === undefined) return senders.get(name);
      if (performance.now() < until) return undefined;
      doubts.delete(name);
      return senders.get(name);
    },
    domain: (workspace_id, name) => domains.get(`${workspace_id} ${name}`),
    suppressed: (workspace_id, email) => suppressed.size > 0 && suppressed.has(`${workspace_id} ${email}`),
    learnSender(read_in, name, sender) {
      if (!enter(read_in)) return;
      makeRoom(senders);
      senders.set(name, sender);
    },
    learnDomains(read_in, found) {
      if (!enter(read_in)) return;
      for (const [name, facts] of found) {
        makeRoom(domains);
        domains.set(name, facts);
      }
    },
    learnSuppressed(addresses) {
      for (const address of addresses) {
        makeRoom(suppressed);
        suppressed.add(address);
      }
    },
    doubt(name, ms) {
      makeRoom(doubts);
      doubts.set(name, performance.now() + ms);
    },
  };
}

function makeRoom(kept: { readonly size: number; clear(): void }): void {
  if (kept.size >= MOST_REMEMBERED) kept.clear();
}
