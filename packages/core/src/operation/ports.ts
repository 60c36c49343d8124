import type { DkimKey } from '@postrider/mail';

// Ports of the context that a domain implements, so that no operation imports the domain.

/** The rate-limit window of a request, for its headers. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_unix: number;
  readonly retry_after_seconds: number;
}

/** Collects the uses of keys and writes last_used_at outside of the requests. */
export interface KeyUses {
  note(key_id: string): void;
  stop(): Promise<void>;
}

/** A cache of decrypted DKIM keys by id; a key never changes. */
export interface SigningKeys {
  /** Loads missing keys of many messages in one query. */
  warm(ids: readonly string[]): Promise<void>;
  /** The keys of one domain, in the given order. Throws if one is missing or cannot be decrypted. */
  of(ids: readonly string[]): Promise<readonly DkimKey[]>;
}

/** Stores submissions in batched commits; their type is known to accept/ only. */
export interface SubmitPort {
  submit(submission: object): Promise<object>;
}
