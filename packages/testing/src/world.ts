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
import {
  attemptDelivery,
  claimDeliveries,
  createMailers,
  type DeliveryJob,
  type Mailers,
  settleDeliveries,
  stopMailers,
} from '@postrider/core/delivery';
import { dkimName, dkimValue, insertProvenDomain, publicKeysOf } from '@postrider/core/domains';
import {
  beginVisits,
  type ClaimedPost,
  claimPosts,
  egressOf,
  renewVisits,
  sendPost,
  settlePosts,
  type Visit,
} from '@postrider/core/webhooks';
import { provision } from '@postrider/core/workspaces';
import { connect, type Sql } from '@postrider/db';
import { createHttpGuard, createMailer } from '@postrider/mail';
import { createQueue } from '@postrider/queue';
import { dkimVerify } from 'mailauth';
import { pino } from 'pino';
import { createTestClock, type TestClock } from './clock.ts';
import { createDatabase } from './database.ts';
import { testPairs } from './dkim-pairs.ts';
import { type DnsZone, startDnsZone } from './dns-zone.ts';
import { type SinkMail, type SmtpSink, startSmtpSink } from './smtp-sink.ts';

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
  /** The workspace and key that provisioning made: every scope, Business plan. */
  readonly workspace_id: string;
  readonly secret: string;
  /** Lines that the services logged, parsed. */
  readonly logged: readonly Record<string, unknown>[];
  /** Makes a key of the first workspace and returns its secret. */
  key(options: {
    readonly scopes: readonly Scope[];
    readonly mode?: 'live' | 'sandbox';
    readonly [option: string]: unknown;
  }): Promise<{ readonly id: string; readonly secret: string }>;
  /** Makes another workspace on a plan, with a key that has every scope but operator. */
  workspace(plan: string): Promise<{ readonly workspace_id: string; readonly secret: string; readonly key_id: string }>;
  /** A verified domain of a workspace, with keys that sign. */
  domain(name: string, workspace_id?: string): Promise<void>;
  /** What a receiver finds of each signature of a mail, such as `pass rsa-sha256 good.test`, topmost first. */
  signatures(mail: Pick<SinkMail, 'raw'>): Promise<string[]>;
  as(workspace_id: string): Context;
  /**
   * What a second process has on the same database and clock: a pool, a queue and an accept line of its own. One that
   * works is registered as a worker and supervises the queues.
   */
  peer(options?: { readonly works?: boolean; readonly on_statement?: (text: string) => void }): Promise<Services>;
  /** Runs every delivery that is due now, through the real queue and the real SMTP client, until none is left. */
  drain(): Promise<JobRun[]>;
  /** Claims so many of what is due at each endpoint, as a worker does that goes on visiting those it was called to. */
  claimWebhooks(count: number): Promise<ClaimedPost[]>;
  /** Posts every webhook that is due now, through the real HTTP client, until none is left; how many posts that took. */
  postWebhooks(): Promise<number>;
  stop(): Promise<void>;
}

const BATCH = 50;

/**
 * A service on a database, a clock, a name server and an SMTP server of its own; nothing in it is pretended.
 * With DELIVERY=mx live mail goes where the zone says, to the port of the SMTP server on any loopback address, so
 * that further sinks on that port are further mail servers; else it goes to the SMTP server whatever DELIVERY says.
 */
export async function createWorld(env: Readonly<Record<string, string>> = {}): Promise<World> {
  const database = await createDatabase();
  const sql = connect(database.url, { max: 10, application_name: 'postrider-test' });
  const clock = createTestClock(sql);
  const smtp = await startSmtpSink({ now: clock.now });
  const dns = await startDnsZone();
  const by_mx = env.DELIVERY?.split(',').includes('mx') ?? false;
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const config: Config = readConfig({
    BOOTSTRAP_API_KEY: secret,
    DNS_SERVERS: dns.address,
    ...(by_mx && { MX_PORT: String(smtp.port), MX_ALLOW_NETWORKS: '127.0.0.0/8,::1', HELO_NAME: 'mail.sender.test' }),
    ...env,
  });
  const visited: Visit[] = [];
  const peerStops: (() => Promise<void>)[] = [];
  const startQueue = async (pool: Sql, works: boolean) => {
    const queue = createQueue({
      sql: pool,
      url: database.url,
      catalogue,
      application_name: 'postrider-test-queue',
      max_connections: 4,
      supervise: works,
      on_error: (error) => log.error({ err: error }, 'the queue reported an error'),
    });
    await queue.start();
    return queue;
  };
  const jobs = await startQueue(sql, false);
  // An operator is there already, so that no test waits for a password to be derived.
  await sql`insert into users (id, email, operator, created_at) values ('usr_00000000000000000000000000', 'operator@sandbox.test', true, clock_now())`;
  const public_url = config.PUBLIC_URL ?? 'http://localhost:3000';
  const parts = { sql, jobs, clock, log, config, secret_key: 'f'.repeat(64), public_url };
  await provision(parts, async () => testPairs);
  const services = createServices(parts);
  const [first] = await sql<{ id: string }[]>`select id from workspaces`;
  const workspace_id = first?.id ?? '';
  const mailer = createMailer({
    helo_name: 'localhost',
    transports: [
      { host: smtp.host, port: smtp.port, secure: false, tls: 'none', max_connections: 5, lane_by: 'domain' },
    ],
  });
  const http = createHttpGuard(egressOf(config));
  const mailers: Mailers = by_mx ? createMailers(services, smtp) : { live: mailer, sandbox: mailer };

  const as = (workspace: string) => createContext(services, { kind: 'system', workspace_id: workspace });
  return {
    services,
    database_url: database.url,
    clock,
    smtp,
    dns,
    workspace_id,
    secret,
    logged,
    as,
    key: (options) => invoke(as(workspace_id), createKey, { name: 'Test key', ...options }),
    async workspace(plan) {
      const id = newId('workspace', clock.now());
      await sql`insert into workspaces (id, name, plan, created_at) values (${id}, 'Other', ${plan}, clock_now())`;
      const made = await invoke(as(id), createKey, { name: 'Other key', scopes: ['admin'] });
      return { workspace_id: id, secret: made.secret, key_id: made.id };
    },
    async domain(name, workspace = workspace_id) {
      const domain = { workspace_id: workspace, name, sandbox: false };
      await sql.begin((tx) => insertProvenDomain(tx, services.sealing, domain, testPairs, clock.now()));
    },
    async signatures({ raw }) {
      const domains = await sql<{ id: string; name: string }[]>`select id, name from domains`;
      const names = new Map(domains.map(({ id, name }) => [id, name]));
      const keys = await publicKeysOf(sql, [...names.keys()]);
      const records = new Map(keys.map((key) => [dkimName(key, names.get(key.domain_id) ?? ''), dkimValue(key)]));
      const { results } = await dkimVerify(raw, {
        resolver: async (name: string) => {
          const record = records.get(name);
          if (record === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
          return [[record]];
        },
      });
      return results.map(({ status, algo, signingDomain }) => `${status.result} ${algo} ${signingDomain}`);
    },
    async peer({ works = false, ...options } = {}) {
      const pool = connect(database.url, { max: 10, application_name: 'postrider-test-peer', ...options });
      const queue = await startQueue(pool, works);
      const beside = createServices({ ...parts, sql: pool, jobs: queue });
      peerStops.push(async () => {
        await beside.key_uses.stop();
        await queue.stop();
        await pool.end({ timeout: 2 });
      });
      return beside;
    },
    async drain() {
      const runs: JobRun[] = [];
      for (;;) {
        const due: DeliveryJob[] = await jobs.fetch('delivery.attempt', BATCH);
        if (due.length === 0) return runs;
        runs.push(...due.map((job) => ({ name: 'delivery.attempt', data: job.data })));
        const claimed = await claimDeliveries(services, due);
        const results = await Promise.all(
          claimed.map((one) => attemptDelivery(services, mailers, one, new AbortController().signal)),
        );
        await settleDeliveries(
          services,
          results.map((result) => ({ ...result, handed_back: false })),
        );
      }
    },
    async claimWebhooks(count) {
      const begun = await beginVisits(services, await jobs.fetch('webhook.deliver', BATCH), []);
      visited.push(...begun.visits);
      await renewVisits(sql, visited);
      const rooms = visited.map(({ webhook_id, holder }) => ({ webhook_id, holder, count }));
      return [...(await claimPosts(services, rooms)).posts];
    },
    async postWebhooks() {
      for (let count = 0; ; ) {
        const due = await jobs.fetch('webhook.deliver', BATCH);
        if (due.length === 0) return count;
        const { visits } = await beginVisits(services, due, []);
        const { posts, refused } = await claimPosts(
          services,
          visits.map(({ webhook_id, holder }) => ({ webhook_id, holder, count: BATCH })),
        );
        const sent = await Promise.all(posts.map((post) => sendPost(services, http, post)));
        const busy = new Set([...posts, ...refused].map(({ row }) => row.webhook_id));
        const ended = visits.map((visit) => ({ ...visit, idle: !busy.has(visit.webhook_id) }));
        await settlePosts(services, [...sent, ...refused], ended);
        count += posts.length;
      }
    },
    async stop() {
      for (const stopPeer of peerStops) await stopPeer();
      await Promise.all([mailer.stop(), stopMailers(mailers), http.stop()]);
      await services.key_uses.stop();
      await jobs.stop();
      await smtp.stop();
      await dns.stop();
      await sql.end({ timeout: 2 });
      await database.drop();
    },
  };
}
