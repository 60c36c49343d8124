import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runAll } from '@postrider/core';
import { freePort } from '@postrider/testing/free-port';
import postgres from 'postgres';
import { atMost, check } from '../faults/check.ts';
import { Database } from '../faults/database.ts';
import { newLedgers } from '../faults/ledgers.ts';
import { startPostgres } from '../faults/postgres.ts';
import { Clients } from './clients.ts';
import type { Drill } from './drill.ts';
import { openInstallation } from './installation.ts';
import { need } from './needs.ts';
import { copiesOf, drain, longestGap, mailChecks, printChecks } from './outcome.ts';
import { postgresUser } from './patroni.ts';
import { type Program, startProgram } from './program.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url));
const PASSWORD = 'loopback';
const PER_SECOND = 60;
const CALM_MS = 5000;
/**
 * The maximum number of messages that workers may have sent without recording. Both lose their database once, and one
 * is killed.
 */
const MAX_UNRECORDED = 3 * 128;
const MAX_GAP_MS = 15_000;

/** The service behind PgBouncer in session mode: a worker is killed and the pooler restarted, under load. */
export const poolerDrill: Drill = {
  about: 'PgBouncer in session mode in front of the database: a worker is killed and the pooler restarted, under load',
  async run({ folder, say: print }) {
    need('pgbouncer');
    const stops: (() => Promise<void>)[] = [];
    try {
      const server = await startPostgres();
      stops.unshift(() => server.stop());
      const port = await freePort();
      let pooler = await startPooler(folder, port, server.port);
      stops.unshift(() => pooler.stop('SIGKILL'));
      const direct_url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
      const database_url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postrider`;
      const ledgers = newLedgers();
      const env = { DATABASE_DIRECT_URL: direct_url };
      const installation = await openInstallation(ledgers, { database_url, direct_url, env, folder });
      stops.unshift(() => installation.stop());
      const database = new Database(direct_url);
      stops.unshift(() => database.stop());
      await database.liftRateLimits();
      const api = installation.open('api', 'rest', await freePort());
      const workers = [
        installation.open('worker-1', 'worker', await freePort()),
        installation.open('worker-2', 'worker', await freePort()),
      ];
      for (const slot of [api, ...workers]) await slot.untilReady();
      const { secret } = installation;
      const clients = new Clients(ledgers, { port: api.port, secret, per_second: PER_SECOND, keyed: 1 });
      print(`${PER_SECOND} messages per second`);
      await pause(CALM_MS);
      const connections = await connectionsOf(direct_url, pooler.pid);

      await workers[0]?.kill();
      print('kill -9 worker');
      await workers[0]?.untilReady();
      await pause(CALM_MS);
      const noticed = ['worker-1', 'worker-2'].some((name) =>
        readFileSync(join(folder, `${name}.log`), 'utf8').includes('a worker has died'),
      );

      await pooler.stop('SIGKILL');
      print('kill -9 pooler');
      await pause(2000);
      pooler = await startPooler(folder, port, server.port);
      print('the pooler is running again');
      await pause(CALM_MS);
      await clients.stop();
      await drain(database);
      print(`${ledgers.accepted.length} of ${ledgers.sent.length} accepted; longest gap ${longestGap(ledgers)} ms`);
      print(`connections: ${connections.pooled} through the pooler, ${connections.direct.join(', ')} direct`);
      const second = [...copiesOf(ledgers).values()].filter((copies) => copies > 1).length;
      return printChecks('pooler', [
        ...mailChecks(ledgers, await database.read('none')),
        atMost('duplicates', second, MAX_UNRECORDED),
        atMost('milliseconds without a 202', longestGap(ledgers), MAX_GAP_MS),
        check('a dead worker is not detected, because its connection outlives it', noticed ? [] : ['not detected']),
        check('no connection comes from the pooler', connections.pooled > 0 ? [] : ['none']),
        check(
          'connections past the pooler that are not for heartbeats, LISTEN and the queue',
          connections.direct.filter((name) => !/^postrider-(?:direct|queue)/.test(name)),
        ),
        check(
          'processes that exited unexpectedly',
          ledgers.lives.filter(({ end }) => end === 'unplanned').map(({ slot }) => slot),
        ),
      ]);
    } finally {
      await runAll('the drill', stops);
    }
  },
};

/** Starts PgBouncer with the configuration of deploy/pgbouncer and this drill's addresses and password. */
function startPooler(folder: string, port: number, server_port: number): Promise<Program> {
  const users = join(folder, 'userlist.txt');
  const configuration = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"postgres" "${PASSWORD}"\n`);
  const own = {
    '^postrider = .*': `postrider = host=127.0.0.1 port=${server_port} dbname=postgres`,
    '^listen_port = .*': `listen_port = ${port}`,
    '^auth_file = .*': `auth_file = ${users}`,
  };
  let text = readFileSync(CONFIGURATION, 'utf8');
  for (const [line, value] of Object.entries(own)) text = text.replace(new RegExp(line, 'm'), value);
  writeFileSync(configuration, text);
  return startProgram({
    command: 'pgbouncer',
    args: [configuration],
    ...postgresUser(),
    log: join(folder, 'pgbouncer.log'),
    ready: () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      }),
  });
}

/** Returns how many of the service's connections go through the pooler, and the names of those that do not. */
async function connectionsOf(url: string, pooler: number): Promise<{ pooled: number; direct: string[] }> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { application_name: 'drill' } });
  const rows = await sql<{ application_name: string; client_port: number }[]>`
    select application_name, client_port from pg_stat_activity
    where backend_type = 'client backend' and application_name like 'postrider%'`;
  await sql.end({ timeout: 1 });
  const own = portsOf(pooler);
  const direct = rows.filter(({ client_port }) => !own.has(client_port)).map((row) => row.application_name);
  return { pooled: rows.length - direct.length, direct: [...new Set(direct)].sort() };
}

function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  return new Set(
    readdirSync(folder).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? [];
      } catch {
        // The file descriptor was closed in the meantime.
        return [];
      }
    }),
  );
}

/** Returns the local ports of a process's TCP connections, as listed by Linux. */
function portsOf(pid: number): Set<number> {
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  const inodes = socketsOf(pid);
  return new Set(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => inodes.has(fields[9] ?? ''))
      .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)),
  );
}
