import type { Reply } from '../outcome/reply.ts';
import type { DialResult } from '../smtp/route.ts';

export interface MxHost {
  readonly name: string;
  readonly preference: number;
  readonly addresses: readonly string[];
  /** Addresses that must not be used, each with the reason. */
  readonly refused: readonly string[];
}

export type MxAnswer =
  | { readonly kind: 'hosts'; readonly hosts: readonly MxHost[]; readonly ttl_seconds: number }
  /** The domain does not accept mail. The reply is ours, worded like a server's. */
  | { readonly kind: 'no_mail'; readonly reply: Reply; readonly declared: boolean }
  | { readonly kind: 'failed'; readonly error: string };

/** Finds the mail servers of a domain and opens sockets to them. Hides how they are found. */
export interface MxConnector {
  /** Queries DNS. Never rejects. */
  resolve(domain: string): Promise<MxAnswer>;
  /** Returns the TXT records, with the character-strings of each joined. Rejects like node:dns. */
  resolveTxt(name: string): Promise<readonly string[]>;
  /** Returns the addresses of a name that may be connected to. The list may be empty. */
  resolveAddresses(name: string): Promise<readonly string[]>;
  /** Opens a socket to an allowed address, and checks the address again after connecting. Never rejects. */
  dial(address: string, port: number, signal: AbortSignal): Promise<DialResult>;
  /** Cancels the pending queries. */
  stop(): void;
}
