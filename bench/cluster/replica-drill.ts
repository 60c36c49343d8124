import { execFile } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runAll } from '@postrider/core';
import { freePort } from '@postrider/testing/free-port';
import postgres from 'postgres';
import { check } from '../faults/check.ts';
import { newLedgers } from '../faults/ledgers.ts';
import { wallTime } from '../faults/wall-time.ts';
import type { Drill } from './drill.ts';
import { openInstallation, SENDER } from './installation.ts';
import { need, postgresBin } from './needs.ts';
import { printChecks } from './outcome.ts';
import { postgresUser } from './patroni.ts';
import { startProgram } from './program.ts';

const execute = promisify(execFile);
const PATIENCE_MS = 20_000;
/** The lag beyond which a stalled replica is no longer read. */
const LAG_MS = 5000;
const POLL_MS = 1500;
const WROTE_MS = 10_000;

/** A stalled streaming replica: which reads still go to it, and which do not. */
export const replicaDrill: Drill = {
  about: 'a streaming replica for lists: replay paused, with a concurrent reader and writer',
  async run({ folder, say: print }) {
    need('postgres');
    const { uid, gid } = postgresUser();
    chownSync(folder, uid, gid);
    const stops: (() => Promise<void>)[] = [];
    try {
      const primary = await startServer(folder, 'primary', null);
      stops.unshift(() => primary.stop());
      const replica = await startServer(folder, 'replica', primary.port);
      stops.unshift(() => replica.stop());
      const ledgers = newLedgers();
      const installation = await openInstallation(ledgers, {
        database_url: primary.url,
        direct_url: primary.url,
        folder,
      });
      stops.unshift(() => installation.stop());
      const env = { DATABASE_READ_URL: replica.url };
      const api = installation.open('api', 'rest', await freePort(), env);
      const worker = installation.open('worker', 'worker', await freePort());
      for (const slot of [api, worker]) await slot.untilReady();
      const callAs = (secret: string) => caller(api.port, secret);
      const writer = callAs(installation.secret);
      const key = await writer.call('POST', '/api-keys', { name: 'Reader', scopes: ['email:logs:read', 'admin'] });
      const reader = callAs(String(key.secret));
      const first = await writer.send();
      await until(async () => (await reader.lists()).includes(first));
      // Waits until the writer no longer counts as a recent writer, so that it has to become one again.
      await pause(WROTE_MS + POLL_MS);
      print('the replica is used and up to date');

      await replica.pause(true);
      const paused_at = wallTime();
      const second = await writer.send();
      const stale = !(await reader.lists()).includes(second);
      const own = (await writer.lists()).includes(second);
      await pause(LAG_MS - (wallTime() - paused_at) + POLL_MS);
      const fresh = (await reader.lists()).includes(second);
      const failed: string[] = [];
      for (const path of ['/stats', '/events', '/email/logs', '/usage', '/requests', '/domains', '/suppressions'])
        await reader.call('GET', path).catch((error: unknown) => failed.push(String(error)));
      print('replay was paused: the reader saw the old state, then the new one');

      await replica.pause(false);
      const third = await writer.send();
      await until(async () => (await replica.sessions()) > 0 && (await reader.lists()).includes(third));
      await replica.stop();
      const failures: string[] = [];
      for (let turn = 0; turn < 20; turn++)
        await reader.lists().catch((error: unknown) => {
          failures.push(String(error));
        });
      print('the replica is gone, and lists still work');
      return printChecks('replica', [
        check('the reader was not served by the replica, so the drill proves nothing', stale ? [] : ['fresh']),
        check('a client did not see its own write', own ? [] : ['not seen']),
        check('a replica five seconds behind was still used', fresh ? [] : ['stale']),
        check('failed reads while there was a replica', failed),
        check('failed lists after the replica was gone', failures),
      ]);
    } finally {
      await runAll('the drill', stops);
    }
  },
};

interface Caller {
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Sends a message and returns its ID. */
  send(): Promise<string>;
  /** Returns the IDs of the newest messages. */
  lists(): Promise<string[]>;
}

function caller(port: number, secret: string): Caller {
  const call: Caller['call'] = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    call,
    async send() {
      const mail = { from: `orders@${SENDER}`, to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
      return String((await call('POST', '/email/send', mail)).id);
    },
    async lists() {
      const { data } = (await call('GET', '/email/logs?limit=20')) as { data: { id: string }[] };
      return data.map(({ id }) => id);
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = wallTime() + PATIENCE_MS; !(await holds()); await pause(100))
    if (wallTime() > end) throw new Error('the replica does not catch up');
}

interface Server {
  readonly port: number;
  readonly url: string;
  pause(is_paused: boolean): Promise<void>;
  /** The number of the service's read connections. */
  sessions(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a Postgres 15 server, or a replica of the server on a given port. */
async function startServer(folder: string, name: string, source: number | null): Promise<Server> {
  const user = postgresUser();
  const data = join(folder, name);
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, user.uid, user.gid);
  const run = (program: string, args: readonly string[]) =>
    execute(join(postgresBin, program), [...args], { ...user, cwd: folder });
  if (source === null) await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C']);
  else await run('pg_basebackup', ['-D', data, '-R', '-X', 'stream', '-d', `postgres://postgres@127.0.0.1:${source}/`]);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const sql = postgres(url, { max: 1, onnotice: () => undefined, idle_timeout: 1 });
  const program = await startProgram({
    command: join(postgresBin, 'postgres'),
    args: [
      ...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', `unix_socket_directories=${folder}`, '-c', 'max_connections=120'],
    ],
    ...user,
    log: join(folder, `${name}.log`),
    ready: () => sql`select 1`.then(() => true),
  });
  let stopped = false;
  return {
    port,
    url,
    async pause(is_paused) {
      if (is_paused) await sql`select pg_wal_replay_pause()`;
      else await sql`select pg_wal_replay_resume()`;
    },
    async sessions() {
      const rows = await sql`select from pg_stat_activity where application_name = 'postrider-read'`;
      return rows.length;
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await sql.end({ timeout: 1 });
      await program.stop('SIGQUIT');
    },
  };
}
