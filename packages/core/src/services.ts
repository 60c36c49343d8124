import type { Sql } from '@postrider/db';
import { createKeyUses } from './api-keys/index.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Actor, Context, Credential, Face, Log, Services } from './context.ts';
import { createDnsLookup } from './dns/lookup.ts';
import { createSigningKeys } from './domains/signing-keys.ts';
import { newId } from './ids.ts';
import type { Jobs } from './jobs.ts';
import { createAcceptLine } from './messages/index.ts';
import { createSealing } from './sealing.ts';

/** Assembles what the operations need from the parts that a process owns. */
export function createServices(parts: {
  readonly sql: Sql;
  /** Connections of the accept line's own; without them it shares the pool. */
  readonly lanes?: readonly Sql[];
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Config;
  readonly secret_key: string;
  readonly public_url: string;
}): Services {
  const key_uses = createKeyUses(parts.sql, parts.log);
  const sealing = createSealing(parts.secret_key, parts.config.SECRET_KEY_PREVIOUS);
  return {
    ...parts,
    key_uses,
    sealing,
    signing_keys: createSigningKeys(parts.sql, sealing),
    dns: createDnsLookup(parts.config.DNS_SERVERS),
    accept: createAcceptLine({ ...parts, key_uses, lanes: parts.lanes ?? [parts.sql, parts.sql] }),
  };
}

/** The context of one request or job. */
export function createContext(
  services: Services,
  actor: Actor | Credential,
  request: {
    readonly request_id?: string;
    readonly idempotency_key?: string | null;
    readonly face?: Face;
    readonly address?: string | null;
  } = {},
): Context {
  // Named one by one: this is made for every request, and a spread of an object with a getter is slow.
  const { sql, jobs, clock, log, config, secret_key, sealing, signing_keys, dns, accept, key_uses, public_url } =
    services;
  return {
    sql,
    jobs,
    clock,
    log,
    config,
    secret_key,
    sealing,
    signing_keys,
    dns,
    accept,
    key_uses,
    public_url,
    actor,
    request_id: request.request_id ?? newId('request', services.clock.now()),
    face: request.face ?? 'worker',
    address: request.address ?? null,
    idempotency_key: request.idempotency_key ?? null,
    notes: { window: null, replayed: false, session_token: null },
  };
}
