import type { Replica, Sql } from '@postrider/db';
import { createDnsLookup } from '@postrider/net';
import { createSubmitBatcher } from './accept/index.ts';
import { createKeyUses } from './api-keys/index.ts';
import { createSigningKeys } from './domains/index.ts';
import type { Clock } from './fields/clock.ts';
import type { Log, Services } from './operation/context.ts';
import { newVitals } from './operation/vitals.ts';
import { requireAdmittedSince } from './people/index.ts';
import type { Config } from './process/config.ts';
import { createEncryption } from './process/encryption.ts';
import type { Jobs } from './process/jobs.ts';
import { createMetrics } from './process/metrics.ts';
import { createSampledLog } from './process/sampled-log.ts';
import { noTracing, type Tracing } from './process/tracing.ts';
import { createRequestLog } from './requests/index.ts';
import { bodyBounds, createCapturePort, FairLine, keyBounds } from './shares/index.ts';
import { createAddressCounter } from './usage/index.ts';

/** Assembles the services that operations need from the parts a process owns. */
export function createServices({
  accept_connections,
  ...parts
}: {
  readonly sql: Sql;
  /** Connections that bypass any pooler; defaults to `sql`. */
  readonly direct?: Sql;
  readonly replica?: Replica | null;
  /** Dedicated connections for the submit batcher; without them it shares the pool. */
  readonly accept_connections?: readonly Sql[];
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Config;
  readonly secret_key: string;
  readonly public_url: string;
  readonly tracing?: Tracing;
}): Services {
  const vitals = newVitals();
  const key_uses = createKeyUses(parts.sql, parts.log);
  const address_counter = createAddressCounter(parts.sql, parts.clock);
  const metrics = createMetrics();
  metrics.source('pg_pool_waiting', () => parts.sql.waiting());
  const encryption = createEncryption(parts.secret_key, parts.config.SECRET_KEY_PREVIOUS);
  return {
    ...parts,
    direct: parts.direct ?? parts.sql,
    primary: parts.sql,
    replica: parts.replica ?? null,
    key_uses,
    address_counter,
    request_log: createRequestLog({ ...parts, metrics }),
    body_line: new FairLine('request_bodies', bodyBounds, metrics),
    key_line: new FairLine('dkim_keys', keyBounds, metrics),
    requireAdmittedSince,
    captures: createCapturePort(metrics),
    encryption,
    vitals,
    signing_keys: createSigningKeys(parts.sql, encryption),
    dns: createDnsLookup(parts.config.DNS_SERVERS),
    metrics,
    mail_log: createSampledLog(parts.log),
    tracing: parts.tracing ?? noTracing,
    accept: createSubmitBatcher({
      ...parts,
      key_uses,
      address_counter,
      vitals,
      metrics,
      accept_connections: accept_connections ?? [parts.sql, parts.sql],
    }),
  };
}
