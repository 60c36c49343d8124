import type { Replica, Sql } from '@postrider/db';
import type { DnsLookup } from '@postrider/net';
import type { Logger } from 'pino';
import type { Clock } from '../fields/clock.ts';
import type { Config } from '../process/config.ts';
import type { Encryption } from '../process/encryption.ts';
import type { Jobs } from '../process/jobs.ts';
import type { Metrics } from '../process/metrics.ts';
import type { SampledLog } from '../process/sampled-log.ts';
import type { Tracing } from '../process/tracing.ts';
import type {
  AddressCounter,
  CapturePort,
  KeyUses,
  RateWindow,
  RequestLog,
  SharedLine,
  SigningKeys,
  SubmitPort,
} from './ports.ts';
import type { Scope } from './scopes.ts';
import type { KeyMode } from './secrets.ts';
import type { Vitals } from './vitals.ts';

export type Log = Logger;

/** Everything that outlives a request; created once by apps/server. */
export interface Services {
  readonly sql: Sql;
  /**
   * Bypasses any connection pooler, for LISTEN and heartbeats, because a pooler's server connections outlive the
   * process's own connections.
   */
  readonly direct: Sql;
  /** Same as sql, except for a read that runs on the replica, where unlogged tables are missing. */
  readonly primary: Sql;
  readonly replica: Replica | null;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Config;
  /** The root key: signs cursors, and encrypts secrets at rest. */
  readonly secret_key: string;
  /** The submit batcher. */
  readonly accept: SubmitPort;
  readonly key_uses: KeyUses;
  readonly address_counter: AddressCounter;
  readonly request_log: RequestLog;
  /** The queue for memory that holds large request bodies. */
  readonly body_line: SharedLine;
  /** The queue for generating DKIM keys. */
  readonly key_line: SharedLine;
  /** Rejects a request that has waited for long if its key or session would be rejected by now. */
  readonly requireAdmittedSince: (ctx: Context, checked_at: number) => Promise<void>;
  readonly captures: CapturePort;
  readonly encryption: Encryption;
  /** DKIM private keys, decrypted once. */
  readonly signing_keys: SigningKeys;
  readonly dns: DnsLookup;
  /** The metrics of this process. */
  readonly metrics: Metrics;
  readonly vitals: Vitals;
  /** For log lines about individual messages. */
  readonly mail_log: SampledLog;
  readonly tracing: Tracing;
  readonly public_url: string;
}

/** An API key that was valid when the statement that checked it ran. */
export interface KeyActor {
  readonly kind: 'key';
  readonly workspace_id: string;
  readonly key_id: string;
  readonly scopes: readonly Scope[];
  readonly mode: KeyMode;
  /** Allowed sending domains; null for all. */
  readonly domains: readonly string[] | null;
}

/** A signed-in user in one workspace, with the scopes of their role there. */
export interface UserActor {
  readonly kind: 'user';
  readonly workspace_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly email: string;
  readonly scopes: readonly Scope[];
  /** Whether a policy requires a second factor by now, which they do not have. */
  readonly factor_due: boolean;
}

/** The service itself: jobs, provisioning and the CLI. */
export interface SystemActor {
  readonly kind: 'system';
  readonly workspace_id: string;
}

/** An unchecked secret. It is used only by batched acceptance, which checks the secret in its own statement. */
export interface Credential {
  readonly kind: 'credential';
  readonly secret_hash: Buffer;
  readonly address: string;
}

export type Actor = KeyActor | UserActor | SystemActor;

/** The API through which an action came, for the audit log. */
export const viaNames = ['rest', 'graphql', 'dashboard', 'smtp', 'resend', 'worker', 'cli'] as const;
export type Via = (typeof viaNames)[number];

/** Values for response headers, set while the request is handled. */
export interface ResponseNotes {
  window: RateWindow | null;
  replayed: boolean;
  /** Paths of input fields that were ignored. */
  ignored_fields: readonly string[];
  /** The new session token after a rotation; null otherwise. */
  session_token: string | null;
}

export interface Context extends Services {
  readonly actor: Actor | Credential;
  readonly request_id: string;
  readonly via: Via;
  /** The client address; null if there is no client. */
  readonly address: string | null;
  /** The Idempotency-Key; the API has validated its format. */
  readonly idempotency_key: string | null;
  /** Whether the API has counted the request in the `send` window; otherwise the core counts what it submits. */
  readonly send_counted: boolean;
  /** The traceparent of the request; null if it is not sampled. */
  readonly trace: string | null;
  readonly notes: ResponseNotes;
}

export type ActorContext = Context & { readonly actor: Actor };
