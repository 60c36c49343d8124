import type { DkimKey, ReadMail } from '@postrider/mail';
import type { AppError } from './errors.ts';

// Ports in the context. Domains implement them, so that no operation imports a domain.

/** The rate-limit window of a request, for its headers. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_unix: number;
  readonly retry_after_seconds: number;
}

/** The position of a request in its window of a minute. */
export interface WindowCount {
  readonly limit: number;
  /** The first request has position 1. */
  readonly place: number;
  readonly reset_unix: number;
  readonly seconds_left: number;
}

/** Counts requests without a valid key against their client address. */
export interface AddressCounter {
  count(address: string): Promise<WindowCount>;
}

/** Collects key uses and writes last_used_at outside of requests. */
export interface KeyUses {
  note(key_id: string): void;
  stop(): Promise<void>;
}

/** A cache of decrypted DKIM keys by id; a key never changes. */
export interface SigningKeys {
  /** Loads missing keys of many messages in one query. */
  warm(ids: readonly string[]): Promise<void>;
  /** Returns the keys of one domain, in the given order. Throws if a key is missing or cannot be decrypted. */
  of(ids: readonly string[]): Promise<readonly DkimKey[]>;
}

/** Stores submissions in batched commits. Only accept/ knows the type of a submission. */
export interface SubmitPort {
  submit(submission: object): Promise<object>;
}

/** A rejected or failed request, as its API saw it. */
export interface RefusedRequest {
  readonly id: string;
  readonly api: 'rest' | 'trpc';
  readonly method: string;
  /** The route without IDs and addresses. */
  readonly path: string;
  readonly status: number;
  readonly error: AppError;
  /** null if the caller is unknown or known only by the digest of its key. */
  readonly actor:
    | { readonly kind: 'key'; readonly workspace_id: string; readonly key_id: string }
    | { readonly kind: 'user'; readonly workspace_id: string; readonly user_id: string }
    | { readonly kind: 'system'; readonly workspace_id: string }
    | null;
  readonly secret_hash: Buffer | null;
  /** The client's address; null if there is no client. */
  readonly address: string | null;
  /** The input as received; undefined if there was none. */
  readonly input: unknown;
  readonly duration_ms: number;
}

/** A queue in which workspaces take turns for a shared resource. */
export interface SharedLine {
  /** Waits for a turn; call the returned function to release it. */
  enter(owner: string, units?: number, signal?: AbortSignal): Promise<() => void>;
  /** Rejects all waiting and future callers. */
  stop(): void;
}

/** Reads the content of captured email; workspaces take turns. */
export interface CapturePort {
  /** Rejects with an AppError if the content cannot be read or too many reads of the workspace are waiting. */
  read(workspace_id: string, raw: Buffer): Promise<ReadMail>;
}

/** Collects rejected requests and writes them after their responses. */
export interface RequestLog {
  note(request: RefusedRequest): void;
  /** How many were dropped because too many were waiting or they could not be written. */
  readonly dropped: number;
  flush(): Promise<void>;
}
