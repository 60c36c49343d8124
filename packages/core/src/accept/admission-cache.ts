import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { FoundKey } from '../api-keys/index.ts';
import type { SendableFacts } from '../domains/index.ts';

const MAX_CACHED = 10_000;

export interface CachedSender {
  readonly key: FoundKey;
  readonly allowance: number;
  readonly workspace_rate: number | null;
  readonly expires_at: Date | null;
}

/**
 * Keys and domains that this process has read, all in one accept epoch. They are only used for drafts: the storing
 * statement compares the epoch, so stale facts never take effect.
 */
export interface AdmissionCache {
  readonly epoch: number;
  /** Looks up a sender by credential name; also undefined while the sender is in the negative cache. */
  sender(name: string): CachedSender | undefined;
  domain(workspace_id: string, name: string): SendableFacts | undefined;
  /** Returns whether an address was suppressed at the last lookup: a hint that the fast path would fail. */
  suppressed(workspace_id: string, email: string): boolean;
  learnSender(epoch: number, name: string, sender: CachedSender): void;
  learnDomains(epoch: number, domains: ReadonlyMap<string, SendableFacts>): void;
  learnSuppressed(addresses: ReadonlySet<string>): void;
  /**
   * Adds a sender at a limit to the negative cache, so that it uses the slow path for a while and does not fail shared
   * batches.
   */
  learnLimited(name: string, ms: number): void;
}

export function createAdmissionCache(): AdmissionCache {
  let epoch = 0;
  const senders = new Map<string, CachedSender>();
  const domains = new Map<string, SendableFacts>();
  // Stored as digests, because erasing an address cannot reach the memory of every process.
  const suppressed = new Set<string>();
  const digest_key = createSecretKey(randomBytes(16));
  const digestOf = (address: string) => createHmac('sha1', digest_key).update(address).digest('base64');
  const limited = new Map<string, number>();

  /**
   * Returns whether facts from this epoch may be cached; a newer epoch empties the cache. Results may arrive out of
   * order.
   */
  const enter = (read_in: number): boolean => {
    if (read_in > epoch) {
      epoch = read_in;
      senders.clear();
      domains.clear();
      suppressed.clear();
    }
    return read_in === epoch;
  };

  return {
    get epoch() {
      return epoch;
    },
    sender(name) {
      const until = limited.get(name);
      if (until === undefined) return senders.get(name);
      if (performance.now() < until) return undefined;
      limited.delete(name);
      return senders.get(name);
    },
    domain: (workspace_id, name) => domains.get(`${workspace_id} ${name}`),
    suppressed: (workspace_id, email) => suppressed.size > 0 && suppressed.has(digestOf(`${workspace_id} ${email}`)),
    learnSender(read_in, name, sender) {
      if (!enter(read_in)) return;
      makeRoom(senders);
      senders.set(name, sender);
    },
    learnDomains(read_in, sendable) {
      if (!enter(read_in)) return;
      for (const [name, facts] of sendable) {
        makeRoom(domains);
        domains.set(name, facts);
      }
    },
    learnSuppressed(addresses) {
      for (const address of addresses) {
        makeRoom(suppressed);
        suppressed.add(digestOf(address));
      }
    },
    learnLimited(name, ms) {
      makeRoom(limited);
      limited.set(name, performance.now() + ms);
    },
  };
}

function makeRoom(cache: { readonly size: number; clear(): void }): void {
  if (cache.size >= MAX_CACHED) cache.clear();
}
