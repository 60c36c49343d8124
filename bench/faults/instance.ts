import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@postrider/testing/free-port';
import type { Ledgers } from './ledgers.ts';
import { type MailSink, type Slowness, startMailSink } from './mail-sink.ts';
import { type NameServer, startNameServer } from './name-server.ts';
import { type FaultPostgres, startPostgres } from './postgres.ts';
import { openSlot, runCommand, type Slot } from './processes.ts';
import { type FaultProxy, startFaultProxy } from './proxy.ts';
import type { Random } from './random.ts';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

const SENDER = 'mail.faults.test';
// Separate registrable domains, because messages to one provider share a rate regardless of the domain.
const DOMAINS = Array.from({ length: 20 }, (_, index) => `faults-${index}.test`);
/** Destinations that are slow rather than broken, each on its own server. */
const SLOW: Readonly<Record<string, Slowness>> = {
  'greets-late.test': { greeting_ms: 240_000 },
  'answers-late.test': { reply_ms: 480_000 },
  'reads-slowly.test': { bytes_per_second: 220 },
  'one-connection.test': { connections: 1 },
};
export const slowDomains: readonly string[] = Object.keys(SLOW);

/** One process with its own connection to the database. */
export interface Place {
  readonly slot: Slot;
  readonly database: FaultProxy;
  /** Null if the process accepts no email over SMTP. */
  readonly submission_port: number | null;
  /** Null if the process accepts no bounces. */
  readonly inbound_port: number | null;
}

/** The service as shipped, two processes per role, surrounded by real servers that can be made to fail. */
export interface Instance {
  readonly postgres: FaultPostgres;
  readonly mail: MailSink;
  readonly mail_path: FaultProxy;
  readonly names: NameServer;
  readonly hooks: WebhookSink;
  readonly apis: readonly Place[];
  readonly workers: readonly Place[];
  readonly secret: string;
  readonly from: string;
  readonly domains: readonly string[];
  /** The address of the database itself, bypassing the proxies, for the reconciliation. */
  readonly database_url: string;
  readonly log_folder: string;
  /** Stops the instance. Keeps the process logs if something needs investigating. */
  stop(keep_logs: boolean): Promise<void>;
}

export interface InstanceOptions {
  readonly seed: string;
  readonly slow_peers: boolean;
  /** Whether workers expose their metrics. */
  readonly metrics: boolean;
  /** Whether the APIs have all roles but the worker's, including a submission port. */
  readonly all_apis?: boolean;
  /** The webhook URL for notices about the instance. */
  readonly alert_url?: string;
  readonly logs: string | null;
  /** Other checkouts for the processes of a role, to run two versions side by side. */
  readonly api_checkout?: string;
  readonly worker_checkout?: string;
}

export async function startInstance(ledgers: Ledgers, random: Random, options: InstanceOptions): Promise<Instance> {
  const log_folder = options.logs ?? mkdtempSync(join(tmpdir(), 'postrider-faults-logs-'));
  mkdirSync(log_folder, { recursive: true });
  const postgres = await startPostgres();
  const mail = await startMailSink(ledgers, options.seed);
  const mail_path = await startFaultProxy(() => ({ host: '127.0.0.1', port: mail.port }), '127.0.0.2');
  const names = await startNameServer(await freePort());
  for (const domain of DOMAINS) names.mail(domain, '127.0.0.2');
  const slow = options.slow_peers ? await startSlowPeers(ledgers, options.seed, names, mail_path.port) : [];
  const hooks = await startWebhookSink(ledgers, random.fork('webhooks'));
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const database_url = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
  const env = {
    ...settings(secret, names.address, mail_path.port),
    DATABASE_URL: database_url,
    ...(options.alert_url && { ALERT_WEBHOOK_URL: options.alert_url }),
  };

  await runCommand(['migrate'], env);
  const place = async (name: string, ROLES: string, checkout: string | undefined): Promise<Place> => {
    const database = await startFaultProxy(() => ({ host: '127.0.0.1', port: postgres.port }));
    const metrics_port = options.metrics && ROLES === 'worker' ? await freePort() : null;
    const takes_mail = options.all_apis && ROLES !== 'worker';
    const [submission_port, inbound_port] = takes_mail ? [await freePort(), await freePort()] : [null, null];
    const slot = openSlot(ledgers, {
      name,
      port: await freePort(),
      metrics_port,
      env: {
        ...env,
        ROLES,
        DATABASE_URL: `postgres://postgres@127.0.0.1:${database.port}/postgres`,
        ...(metrics_port !== null && { METRICS_PORT: String(metrics_port) }),
        ...(submission_port !== null && {
          SUBMISSION_PORT: String(submission_port),
          INBOUND_PORT: String(inbound_port),
        }),
      },
      log_folder,
      ...(checkout && { checkout }),
    });
    return { slot, database, submission_port, inbound_port };
  };
  const { api_checkout, worker_checkout } = options;
  const roles = options.all_apis ? 'rest,admin,inbound' : 'rest';
  const apis = [await place('api-1', roles, api_checkout), await place('api-2', roles, api_checkout)];
  const workers = [
    await place('worker-1', 'worker', worker_checkout),
    await place('worker-2', 'worker', worker_checkout),
  ];
  const places = [...apis, ...workers];
  for (const { slot } of places) await slot.untilReady();
  const port = apis[0]?.slot.port ?? 0;
  await verifyDomain(port, secret, names, SENDER);
  hooks.secret = await addWebhook(port, secret, hooks.url);
  await addWebhook(port, secret, hooks.dead_url);
  return {
    postgres,
    mail,
    mail_path,
    names,
    hooks,
    apis,
    workers,
    secret,
    from: `Shop <orders@${SENDER}>`,
    domains: DOMAINS,
    database_url,
    log_folder,
    async stop(keep_logs) {
      await Promise.all(places.map(({ slot }) => slot.stop()));
      for (const part of [...slow, hooks, mail_path, mail, ...places.map(({ database }) => database), names])
        await part.stop();
      await postgres.stop();
      if (!keep_logs) rmSync(log_folder, { recursive: true, force: true });
    },
  };
}

function settings(secret: string, name_server: string, mail_port: number) {
  return {
    SECRET_KEY: randomBytes(32).toString('hex'),
    BOOTSTRAP_API_KEY: secret,
    ADMIN_EMAIL: 'operator@faults.test',
    ADMIN_PASSWORD: randomBytes(12).toString('hex'),
    DELIVERY: 'mx',
    MX_PORT: String(mail_port),
    MX_ALLOW_NETWORKS: '127.0.0.0/8',
    DNS_SERVERS: name_server,
    HELO_NAME: 'service.faults.test',
    RETURN_PATH_DOMAIN: 'bounces.faults.test',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    RETRY_SCHEDULE: '1s,2s,4s,8s,15s,30s,60s',
    WEBHOOK_RETRY_SCHEDULE: '1s,2s,4s,8s,15s,30s,60s',
    LOG_LEVEL: 'info',
  };
}

async function startSlowPeers(ledgers: Ledgers, seed: string, names: NameServer, port: number): Promise<MailSink[]> {
  const sinks: MailSink[] = [];
  for (const [index, [domain, slow]] of Object.entries(SLOW).entries()) {
    const host = `127.0.0.${10 + index}`;
    names.mail(domain, host);
    sinks.push(await startMailSink(ledgers, seed, { host, port, slow }));
  }
  return sinks;
}

/** Sends a request during setup, before any faults. */
export async function ask(
  port: number,
  secret: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** Adds a sending domain, and publishes its records in the run's DNS. */
export async function verifyDomain(port: number, secret: string, names: NameServer, name: string): Promise<void> {
  const domain = (await ask(port, secret, 'POST', '/domains', { name })) as {
    dns_records: { type: string; fqdn: string; value: string }[];
  };
  for (const { type, fqdn, value } of domain.dns_records) if (type === 'TXT') names.text(fqdn, value);
  for (let turn = 0; turn < 20; turn++) {
    const checked = (await ask(port, secret, 'POST', `/domains/${name}/verify`)) as { can_send: boolean };
    if (checked.can_send) return;
    await pause(500);
  }
  throw new Error(`${name} did not become verified`);
}

async function addWebhook(port: number, secret: string, url: string): Promise<string> {
  const webhook = (await ask(port, secret, 'POST', '/webhooks', { url })) as { secret: string };
  return webhook.secret;
}
