import type { DkimKey, ReadMail } from '@postrider/mail';
import type { AppError } from './errors.ts';

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

/** A request that was refused or has failed, as its API saw it. */
export interface RefusedRequest {
  readonly id: string;
  readonly api: 'rest' | 'trpc';
  readonly method: string;
  /** The route without IDs and addresses. */
  readonly path: string;
  readonly status: number;
  readonly error: AppError;
  /** null: unknown, or known by its digest only. */
  readonly actor:
    | { readonly kind: 'key'; readonly workspace_id: string; readonly key_id: string }
    | { readonly kind: 'user'; readonly workspace_id: string; readonly user_id: string }
    | { readonly kind: 'system'; readonly workspace_id: string }
    | null;
  readonly secret_hash: Buffer | null;
  /** Of the client; null without one. */
  readonly address: string | null;
  /** As it came; undefined without one. */
  readonly input: unknown;
  readonly duration_ms: number;
}

/** A line in which workspaces take turns before something that they share. */
export interface SharedLine {
  /** Waits for a turn; call the returned function to leave. */
  enter(owner: string, units?: number, signal?: AbortSignal): Promise<() => void>;
  /** Turns away everyone, from now on. */
  stop(): void;
}

/** Reads the content of captured email; workspaces take turns. */
export interface CapturePort {
  /** Rejects with an AppError if it cannot be read, or if too many of the workspace wait. */
  read(workspace_id: string, raw: Buffer): Promise<ReadMail>;
}

/** Collects refused requests and writes them after their answers. */
export interface RequestLog {
  note(request: RefusedRequest): void;
  /** How many were dropped because too many waited, or because they could not be written. */
  readonly dropped: number;
  flush(): Promise<void>;
}
