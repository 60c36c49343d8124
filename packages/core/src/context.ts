import type { Sql } from '@postrider/db';
import type { Logger } from 'pino';
import type { KeyUses } from './api-keys/key-uses.ts';
import type { Scope } from './api-keys/scopes.ts';
import type { KeyMode } from './api-keys/secret.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { DnsLookup } from './dns/lookup.ts';
import type { SigningKeys } from './domains/signing-keys.ts';
import type { Jobs } from './jobs.ts';
import type { AcceptLine } from './messages/accept-line.ts';
import type { Sealing } from './sealing.ts';
import type { RateWindow } from './usage/rate-window.ts';

export type Log = Logger;

/** Everything that outlives a request, built once by apps/server and handed down as a plain object. */
export interface Services {
  readonly sql: Sql;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Config;
  /** The root key: signs cursors, and encrypts what must be kept secret at rest. */
  readonly secret_key: string;
  /** Where sends wait for the next batched commit of this process. */
  readonly accept: AcceptLine;
  readonly key_uses: KeyUses;
  readonly sealing: Sealing;
  /** The private keys of domains, opened once. */
  readonly signing_keys: SigningKeys;
  readonly dns: DnsLookup;
  readonly public_url: string;
}

/** A key whose secret has been found, valid at the moment of the statement that checked it. */
export interface KeyActor {
  readonly kind: 'key';
  readonly workspace_id: string;
  readonly key_id: string;
  readonly scopes: readonly Scope[];
  readonly mode: KeyMode;
  /** The only domains it may send from; null for any. */
  readonly domains: readonly string[] | null;
}

/** A person who is signed in, acting in one workspace with the scopes of their role there. */
export interface UserActor {
  readonly kind: 'user';
  readonly workspace_id: string;
  readonly user_id: string;
  /** The session they act in. */
  readonly session_id: string;
  readonly email: string;
  readonly scopes: readonly Scope[];
}

/** The service itself: jobs, provisioning and the command line on the machine. */
export interface SystemActor {
  readonly kind: 'system';
  readonly workspace_id: string;
}

/** A secret that nobody has checked yet; only the batched accept takes it, and checks it there. */
export interface Credential {
  readonly kind: 'credential';
  readonly secret_hash: Buffer;
  readonly address: string;
}

export type Actor = KeyActor | UserActor | SystemActor;

/** What an action came in through; the audit log tells. */
export const faces = ['rest', 'graphql', 'dashboard', 'worker', 'cli'] as const;
export type Face = (typeof faces)[number];

/** What a face needs for its headers besides the answer: filled in while the request is served. */
export interface AnswerNotes {
  window: RateWindow | null;
  replayed: boolean;
  /** Under which the session of the caller goes on; null where that stays as it is. */
  session_token: string | null;
}

export interface Context extends Services {
  readonly actor: Actor | Credential;
  readonly request_id: string;
  readonly face: Face;
  /** Where the caller connects from; null where nobody does. */
  readonly address: string | null;
  /** What the caller sent to make a repeat safe; a face has checked its form. */
  readonly idempotency_key: string | null;
  readonly notes: AnswerNotes;
}

export type ActorContext = Context & { readonly actor: Actor };
