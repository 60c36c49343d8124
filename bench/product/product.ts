import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEncryption, newId } from '@postrider/core';
import { hashSecret } from '@postrider/core/api-keys';
import { generateDkimPairs, insertProvenDomain } from '@postrider/core/domains';
import { connect, type Sql } from '@postrider/db';
import { freePort } from '@postrider/testing/free-port';
import { httpRequest } from '../measure/http-connection.ts';
import { parentOf } from '../measure/process-tree.ts';
import type { AcceptTarget } from './accept-target.ts';
import { receipt } from './sample.ts';
import { SHIPPED_ENV, SHIPPED_FLAGS } from './shipped.ts';
import { vacuum } from './vacuum.ts';

/** The checkout that this benchmark belongs to. */
export const THIS_CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = 'apps/server/src/main.ts';
const COMMAND_LINE = 'packages/cli/src/main.ts';
const OBVIOUS = fileURLToPath(new URL('../obvious-accept.ts', import.meta.url));
export const SECRET_KEY = 'b'.repeat(64);
const UNLIMITED = 2_000_000_000;

export interface ProductDatabase extends AcceptTarget {
  readonly url: string;
  /** The checkout whose programs run on this database. */
  readonly checkout: string;
  readonly sql: Sql;
  /** The root process of the database server. */
  readonly postmaster: number;
  /** Returns the same requests, with these fields overriding those of the receipt. */
  requestsOf(words: Readonly<Record<string, unknown>>): Buffer[];
}

/** Creates the product's own schema, with a workspace, a verified domain and a limited plan per key. */
export async function prepareProduct(
  url: string,
  keys: number,
  checkout: string = THIS_CHECKOUT,
): Promise<ProductDatabase> {
  // Uses the checkout's own program, so that another checkout gets the schema and queues of its version.
  execFileSync(process.execPath, [join(checkout, COMMAND_LINE), 'migrate'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, DATABASE_URL: url, SECRET_KEY },
  });
  const sql = connect(url, { max: 2, application_name: 'bench' });
  // Limits that are counted and checked on each request, but never reached.
  await sql`
    insert into plans (name, monthly_limit, recipient_cap, send_per_minute, logs_per_minute, default_per_minute)
    values ('bench', ${UNLIMITED}, 50, ${UNLIMITED}, ${UNLIMITED}, ${UNLIMITED})`;
  const secrets = Array.from({ length: keys }, () => `pr_live_${randomBytes(32).toString('hex')}`);
  // All domains share one key pair, because decryption costs the same for each.
  const pairs = await generateDkimPairs();
  const encryption = createEncryption(SECRET_KEY);
  for (const [index, secret] of secrets.entries()) {
    const now_ms = Math.floor(performance.timeOrigin + performance.now());
    const workspace_id = newId('workspace', now_ms);
    await sql`insert into workspaces (id, name, plan, created_at) values (${workspace_id}, 'Bench', 'bench', now())`;
    const domain = { workspace_id, name: domainOf(index), sandbox: false };
    await sql.begin((tx) => insertProvenDomain(tx, encryption, domain, pairs, now_ms));
    await sql`
      insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at)
      values (${workspace_id}, ${newId('api_key', now_ms)}, 'Bench', ${hashSecret(secret)}, 'pr_live_', 'xxxx',
        '{email:send,email:logs:read,admin}', 'live', now())`;
  }
  const requestsOf = (words: Readonly<Record<string, unknown>>) =>
    secrets.map((secret, index) =>
      httpRequest('POST', '/v1/email/send', secret, {
        ...receipt,
        from: `app@${domainOf(index)}`,
        reply_to: `help@${domainOf(index)}`,
        ...words,
      }),
    );
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return {
    url,
    checkout,
    sql,
    postmaster: parentOf(backend?.pid ?? 0),
    requests: requestsOf({}),
    requestsOf,
    async countMessages() {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from messages`;
      return row?.count ?? 0;
    },
    async reset() {
      const [queue] = await sql<
        { table_name: string }[]
      >`select table_name from pgboss.queue where name = 'delivery.attempt'`;
      await sql`
        truncate messages, bodies, recipients, attempts, events, message_tags, idempotency_keys, rate_windows,
          usage_months, captures, ${sql(`pgboss.${queue?.table_name ?? 'job'}`)}`;
      await vacuum(sql);
    },
    async stop() {
      await sql.end();
    },
  };
}

/** Returns the API key of a request. */
export function secretOf(request: Buffer): string {
  return /Bearer (\S+)/.exec(request.toString())?.[1] ?? '';
}

function domainOf(index: number): string {
  return `mail${index}.example.com`;
}

export interface ProductProcess {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
  /** Kills the process, simulating a crash. */
  kill(): Promise<void>;
}

/** Starts a checkout's service as shipped, in its own process; if quiet, its log is discarded. */
export async function startProduct(
  { url, checkout }: Pick<ProductDatabase, 'url' | 'checkout'>,
  env: Readonly<Record<string, string>>,
  log: 'shown' | 'quiet' = 'shown',
  node_options: readonly string[] = [],
): Promise<ProductProcess> {
  const port = await freePort();
  const settings = { DATABASE_URL: url, SECRET_KEY, PORT: String(port), LOG_LEVEL: 'warn', ...env };
  return startProcess(port, [...node_options, join(checkout, MAIN)], settings, log);
}

export async function startObvious(url: string, mode: 'separate' | 'one-statement'): Promise<ProductProcess> {
  const port = await freePort();
  return startProcess(port, [OBVIOUS, url, String(port), mode], {});
}

async function startProcess(
  port: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  log: 'shown' | 'quiet' = 'shown',
): Promise<ProductProcess> {
  const child: ChildProcess = spawn(process.execPath, [...SHIPPED_FLAGS, ...args], {
    stdio: ['ignore', 'pipe', log === 'quiet' ? 'ignore' : 'inherit'],
    env: { PATH: process.env.PATH, ...SHIPPED_ENV, ...env },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('is ready')) resolve();
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.removeAllListeners('exit');
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };
  return { port, pid: child.pid ?? 0, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
