import type { Reply } from '../outcome/reply.ts';
import type { DialResult } from '../smtp/route.ts';

export interface MxHost {
  readonly name: string;
  readonly preference: number;
  readonly addresses: readonly string[];
  /** Addresses that are not used, and why. */
  readonly refused: readonly string[];
}

export type MxAnswer =
  | { readonly kind: 'hosts'; readonly hosts: readonly MxHost[]; readonly ttl_seconds: number }
  /** The domain accepts no mail. The reply is ours, worded as a server's. */
  | { readonly kind: 'no_mail'; readonly reply: Reply; readonly declared: boolean }
  | { readonly kind: 'failed'; readonly error: string };

/** The mail servers of a domain, and sockets to them; hides how they are found. */
export interface MxConnector {
  /** Asks DNS. Never rejects. */
  resolve(domain: string): Promise<MxAnswer>;
  /** Character-strings joined; rejects as node:dns does. */
  resolveTxt(name: string): Promise<readonly string[]>;
  /** The addresses that may be connected to; empty if the name has none. */
  resolveAddresses(name: string): Promise<readonly string[]>;
  /** Opens a socket to an allowed address, and checks the address again once connected. Never rejects. */
  dial(address: string, port: number, signal: AbortSignal): Promise<DialResult>;
  /** Cancels the pending queries. */
  stop(): void;
}
