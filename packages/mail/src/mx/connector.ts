import type { Reply } from '../reply.ts';
import type { Dialled } from '../smtp/route.ts';

export interface MxHost {
  readonly name: string;
  readonly preference: number;
  readonly addresses: readonly string[];
  /** Addresses that are not used, and why. */
  readonly refused: readonly string[];
}

export type MxAnswer =
  | { readonly kind: 'hosts'; readonly hosts: readonly MxHost[]; readonly ttl_seconds: number }
  /** The domain takes no mail. No server said so; the reply is what one would have said. */
  | { readonly kind: 'no_mail'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly error: string };

/** Who takes mail for a domain, and a way to get there. Nothing else knows how that is found out. */
export interface MxConnector {
  /** Asks DNS. Never rejects. */
  resolve(domain: string): Promise<MxAnswer>;
  /** Character-strings joined; rejects as node:dns does. */
  resolveTxt(name: string): Promise<readonly string[]>;
  /** Addresses that may be connected to; none where the name has none. */
  resolveAddresses(name: string): Promise<readonly string[]>;
  /** Opens a socket to an address that is allowed, and looks again at where it ended up. Never rejects. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Dialled>;
  /** Drops the questions that are under way. */
  stop(): void;
}
