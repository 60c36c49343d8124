import { randomBytes } from 'node:crypto';
import {
  type Config,
  type Context,
  catalogue,
  createContext,
  createServices,
  invoke,
  newId,
  readConfig,
  type Services,
} from '@postrider/core';
import { createKey, type Scope } from '@postrider/core/api-keys';
import { createMailers, type Mailers, stopMailers } from '@postrider/core/delivery';
import { dkimName, dkimValue, insertProvenDomain, publicKeysOf } from '@postrider/core/domains';
import {
  type ClaimedPost,
  claimPosts,
  type EndpointLease,
  egressOf,
  renewEndpointLeases,
  takeEndpointLeases,
} from '@postrider/core/webhooks';
import { provision } from '@postrider/core/workspaces';
import { connect, type Sql } from '@postrider/db';
import { drainDeliveries, drainWebhooks } from '@postrider/dispatch';
import { createMailer } from '@postrider/mail';
import { createHttpGuard } from '@postrider/net';
import { createQueue } from '@postrider/queue';
import { type Logger, pino } from 'pino';
import { createTestClock, type TestClock } from './clock.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { testPairs } from './dkim-pairs.ts';
import { dkimSignatures } from './dkim-signatures.ts';
import { type DnsZone, startDnsZone } from './dns-zone.ts';
import { type ReceivedMessage, type SmtpSink, startSmtpSink } from './smtp-sink.ts';

export interface JobRun {
  readonly name: string;
  readonly data: unknown;
}

export interface World {
  readonly services: Services;
  readonly database_url: string;
  readonly clock: TestClock;
  readonly smtp: SmtpSink;
  /** The only name server of this world. */
  readonly dns: DnsZone;
  /** The provisioned workspace and key. The key has every scope, and the workspace is on the Business plan. */
  readonly workspace_id: string;
  readonly secret: string;
  /** The parsed log lines of the services. */
  readonly logged: readonly Record<string, unknown>[];
  /** Creates a key for the first workspace and returns its secret. */
  key(options: {
    readonly scopes: readonly Scope[];
    readonly mode?: 'live' | 'sandbox';
    readonly [option: string]: unknown;
  }): Promise<{ readonly id: string; readonly secret: string }>;
  /** Creates another workspace on a plan, with a key that has every scope but operator. */
  workspace(plan: string): Promise<{ readonly workspace_id: string; readonly secret: string; readonly key_id: string }>;
  /** Creates a verified domain of a workspace, with signing keys. */
  domain(name: string, workspace_id?: string): Promise<void>;
  /**
   * Returns the verification result of each signature of a message, such as `pass rsa-sha256 good.test`, topmost first.
   */
  signatures(mail: Pick<ReceivedMessage, 'raw'>): Promise<string[]>;
  as(workspace_id: string): Context;
  /**
   * Creates a second process on the same database and clock, with its own pool, queue and submit batcher. With `works`,
   * the process is registered as a worker and supervises the queues.
   */
  peer(options?: { readonly works?: boolean; readonly on_statement?: (text: string) => void }): Promise<Services>;
  /** Runs all due deliveries with the worker's engine until nothing is left, and returns the claimed jobs. */
  drain(): Promise<JobRun[]>;
  /** Claims up to `count` due deliveries per endpoint, like a worker with the endpoint lease. */
  claimWebhooks(count: number): Promise<ClaimedPost[]>;
  /** Posts all due webhook deliveries with the worker's engine until nothing is left, and returns their count. */
  postWebhooks(): Promise<number>;
  stop(): Promise<void>;
}

const BATCH = 50;

async function startTestQueue(url: string, sql: Sql, log: Logger, works: boolean) {
  const queue = createQueue({
    sql,
    url,
    catalogue,
    application_name: 'postrider-test-queue',
    max_connections: 4,
    supervise: works,
    on_error: (error) => log.error({ err: error }, 'the job queue reported an error'),
  });
  await queue.start();
  return queue;
}

/**
 * Creates a service with its own database, clock, name server and SMTP server, without mocks. With DELIVERY=mx, live
 * messages go to the hosts of the zone, at the SMTP server's port on any loopback address, so that further sinks on
 * that port act as further mail servers. Otherwise live messages go to the SMTP server whatever DELIVERY says.
 */
export async function createWorld(
  env: Readonly<Record<string, string>> = {},
  /** The database of an earlier world, and the time at which to continue. */
  used?: { readonly database: TestDatabase; readonly at: Date },
): Promise<World> {
  const database = used?.database ?? (await createDatabase());
  const sql = connect(database.url, { max: 10, application_name: 'postrider-test' });
  const clock = createTestClock(sql);
  if (used) await clock.freeze(used.at);
  const smtp = await startSmtpSink({ now: clock.now });
  const dns = await startDnsZone();
  const by_mx = env.DELIVERY?.split(',').includes('mx') ?? false;
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const secret = env.BOOTSTRAP_API_KEY ?? `pr_live_${randomBytes(32).toString('hex')}`;
  const config: Config = readConfig({
    BOOTSTRAP_API_KEY: secret,
    DNS_SERVERS: dns.address,
    ...(by_mx && { MX_PORT: String(smtp.port), MX_ALLOW_NETWORKS: '127.0.0.0/8,::1', HELO_NAME: 'mail.sender.test' }),
    ...env,
  });
  const leased: EndpointLease[] = [];
  const peerStops: (() => Promise<void>)[] = [];
  const startQueue = (pool: Sql, works: boolean) => startTestQueue(database.url, pool, log, works);
  const jobs = await startQueue(sql, false);
  // An operator exists already, so that no test waits for a password hash.
  await sql`insert into users (id, email, operator, created_at) values (${newId('user', 0)}, 'operator@sandbox.test', true, clock_now())
    on conflict do nothing`;
  const public_url = config.PUBLIC_URL ?? 'http://localhost:3000';
  const parts = { sql, jobs, clock, log, config, secret_key: 'f'.repeat(64), public_url };
  await provision(parts, async () => testPairs);
  const services = createServices(parts);
  const [first] = await sql<{ id: string }[]>`select id from workspaces order by id`;
  const workspace_id = first?.id ?? '';
  const mailer = createMailer({
    helo_name: 'localhost',
    transports: [
      { host: smtp.host, port: smtp.port, secure: false, tls: 'none', max_connections: 5, lane_by: 'domain' },
    ],
  });
  const http = createHttpGuard(egressOf(config));
  const mailers: Mailers = by_mx ? createMailers(services, smtp) : { live: mailer, sandbox: mailer };

  const asWorkspace = (workspace: string) => createContext(services, { kind: 'system', workspace_id: workspace });
  return {
    services,
    database_url: database.url,
    clock,
    smtp,
    dns,
    workspace_id,
    secret,
    logged,
    as: asWorkspace,
    key: (options) => invoke(asWorkspace(workspace_id), createKey, { name: 'Test key', ...options }),
    async workspace(plan) {
      const id = newId('workspace', clock.now());
      await sql`insert into workspaces (id, name, plan, created_at) values (${id}, 'Other', ${plan}, clock_now())`;
      const key = await invoke(asWorkspace(id), createKey, { name: 'Other key', scopes: ['admin'] });
      return { workspace_id: id, secret: key.secret, key_id: key.id };
    },
    async domain(name, workspace = workspace_id) {
      const domain = { workspace_id: workspace, name, sandbox: false };
      await sql.begin((tx) => insertProvenDomain(tx, services.encryption, domain, testPairs, clock.now()));
    },
    async signatures({ raw }) {
      const domains = await sql<{ id: string; name: string }[]>`select id, name from domains`;
      const names = new Map(domains.map(({ id, name }) => [id, name]));
      const keys = await publicKeysOf(sql, [...names.keys()]);
      const records = new Map(keys.map((key) => [dkimName(key, names.get(key.domain_id) ?? ''), dkimValue(key)]));
      return dkimSignatures(raw, records);
    },
    async peer({ works = false, ...options } = {}) {
      const pool = connect(database.url, { max: 10, application_name: 'postrider-test-peer', ...options });
      const queue = await startQueue(pool, works);
      const peer = createServices({ ...parts, sql: pool, jobs: queue });
      peerStops.push(async () => {
        await peer.key_uses.stop();
        await queue.stop();
        await pool.end({ timeout: 2 });
      });
      return peer;
    },
    async drain() {
      return (await drainDeliveries(services, mailers)).map(({ data }) => ({ name: 'delivery.attempt', data }));
    },
    async claimWebhooks(count) {
      const leases = await takeEndpointLeases(services, await jobs.fetch('webhook.deliver', BATCH), []);
      leased.push(...leases.endpointLeases);
      await renewEndpointLeases(sql, leased);
      const rooms = leased.map(({ webhook_id, holder }) => ({ webhook_id, holder, count }));
      return [...(await claimPosts(services, rooms)).posts];
    },
    postWebhooks: () => drainWebhooks(services, http),
    async stop() {
      for (const stopPeer of peerStops) await stopPeer();
      await Promise.all([mailer.stop(), stopMailers(mailers), http.stop()]);
      await services.key_uses.stop();
      await services.request_log.flush();
      await jobs.stop();
      await smtp.stop();
      await dns.stop();
      await sql.end({ timeout: 2 });
      await database.drop();
    },
  };
}
