import { chownSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { runAll } from '@postrider/core';
import { freePort } from '@postrider/testing/free-port';
import { atMost, check } from '../faults/check.ts';
import { Database } from '../faults/database.ts';
import { type Ledgers, newLedgers } from '../faults/ledgers.ts';
import { Clients } from './clients.ts';
import type { Drill, DrillTools } from './drill.ts';
import { startHaproxy } from './haproxy.ts';
import { openInstallation } from './installation.ts';
import { need } from './needs.ts';
import { copiesOf, drain, longestGap, mailChecks, printChecks } from './outcome.ts';
import { type PatroniCluster, postgresUser, startPatroni } from './patroni.ts';

const PER_SECOND = 100;
const KILLS = 3;
const CALM_MS = 5000;
const HELD_MS = 2000;
/** The maximum number of messages that the two workers may have sent without recording when the database goes away. */
const MAX_UNRECORDED = 128;
/** Covers Patroni's lock in etcd, the election, and clients waiting for it. */
const MAX_GAP_MS = 60_000;

/** Three Postgres servers under Patroni with a synchronous standby; the primary is killed repeatedly. */
export const failoverDrill: Drill = {
  about: 'three Postgres 15 under Patroni, a synchronous standby; the primary is killed three times under load',
  run: (tools) =>
    onCluster(tools, async ({ cluster, database, ledgers, commitsWaitFor, startClients }) => {
      const { say: print } = tools;
      const waits_for = await commitsWaitFor();
      const clients = await startClients();
      for (let kill = 0; kill < KILLS; kill++) {
        const name = await cluster.killPrimary();
        print(`kill -9 ${name}, the primary`);
        await untilAccepted(ledgers);
        print('email is accepted again');
        await cluster.revive();
        await cluster.untilSynchronous();
        await pause(CALM_MS);
      }
      await clients.stop();
      await drain(database);
      print(`${ledgers.accepted.length} of ${ledgers.sent.length} accepted; longest gap ${longestGap(ledgers)} ms`);
      const second = [...copiesOf(ledgers).values()].filter((copies) => copies > 1).length;
      print(`${second} duplicates`);
      return printChecks('failover', [
        ...mailChecks(ledgers, await database.read('none')),
        atMost('duplicates after failovers', second, KILLS * 2 * MAX_UNRECORDED),
        atMost('milliseconds without a 202', longestGap(ledgers), MAX_GAP_MS),
        check('/readyz does not report that commits wait for a standby', waits_for === 'standby' ? [] : [waits_for]),
        check(
          'processes that exited unexpectedly',
          ledgers.lives.filter(({ end }) => end === 'unplanned').map(({ slot }) => slot),
        ),
      ]);
    }),
};

/** Repeats the drill without a synchronous standby, to show that it would detect a loss. */
export const asynchronousDrill: Drill = {
  about: 'the same with an asynchronous standby two seconds behind: shows that a loss would be detected',
  run: (tools) =>
    onCluster(tools, async ({ cluster, database, ledgers, commitsWaitFor, startClients }) => {
      const { say: print } = tools;
      await cluster.goAsynchronous();
      while ((await commitsWaitFor()) !== 'disk') await pause(100);
      const clients = await startClients();
      const name = await cluster.killPrimary(HELD_MS);
      print(`kill -9 ${name}, the primary, ${HELD_MS} ms after cutting the network to its standbys`);
      await untilAccepted(ledgers);
      await clients.stop();
      await drain(database);
      const { messages } = await database.read('none');
      const lost = ledgers.sent.flatMap(({ ids }) => [...ids]).filter((id) => !messages.has(id)).length;
      print(`${ledgers.accepted.length} accepted, ${lost} of them lost; longest gap ${longestGap(ledgers)} ms`);
      return printChecks('asynchronous', [check('no loss, so the drill proves nothing', lost > 0 ? [] : ['none'])]);
    }),
};

interface Ground {
  readonly cluster: PatroniCluster;
  readonly database: Database;
  readonly ledgers: Ledgers;
  commitsWaitFor(): Promise<string>;
  /** Returns once messages are flowing. */
  startClients(): Promise<Clients>;
}

async function untilAccepted({ accepted }: Ledgers): Promise<void> {
  const before = accepted.length;
  while (accepted.length < before + PER_SECOND) await pause(50);
}

/** Runs an API behind HAProxy and two workers on a database cluster behind HAProxy. */
async function onCluster(
  { folder, say: print }: DrillTools,
  run: (ground: Ground) => Promise<boolean>,
): Promise<boolean> {
  need('postgres', 'patroni', 'etcd', 'haproxy');
  const { uid, gid } = postgresUser();
  chownSync(folder, uid, gid);
  const stops: (() => Promise<void>)[] = [];
  try {
    const cluster = await startPatroni(folder);
    stops.unshift(() => cluster.stop());
    const [bind, api_bind, api_port] = [await freePort(), await freePort(), await freePort()];
    const addresses = { ...cluster.addresses, POSTRIDER_PG_BIND: `127.0.0.1:${bind}` };
    const primary = await startHaproxy('postgres.cfg', addresses, folder);
    stops.unshift(() => primary.stop());
    const url = `postgres://postgres:${cluster.password}@127.0.0.1:${bind}/postgres`;
    const ledgers = newLedgers();
    const database = new Database(url);
    stops.unshift(() => database.stop());
    await cluster.untilSynchronous();
    print('a primary and its synchronous standby are running');
    const installation = await openInstallation(ledgers, { database_url: url, direct_url: url, folder });
    stops.unshift(() => installation.stop());
    const apis = [1, 2, 3, 4].map((index) => [`POSTRIDER_API_${index}`, `127.0.0.1:${api_port}`]);
    const front = { POSTRIDER_BIND: `127.0.0.1:${api_bind}`, ...Object.fromEntries(apis) };
    const proxy = await startHaproxy('haproxy.cfg', front, folder);
    stops.unshift(() => proxy.stop());
    await database.liftRateLimits();
    const slots = [
      installation.open('api-1', 'rest', api_port),
      installation.open('worker-1', 'worker', await freePort()),
      installation.open('worker-2', 'worker', await freePort()),
    ];
    for (const slot of slots) await slot.untilReady();
    return await run({
      cluster,
      database,
      ledgers,
      async commitsWaitFor() {
        const response = await fetch(`http://127.0.0.1:${api_port}/readyz`);
        return ((await response.json()) as { commits_wait_for: string }).commits_wait_for;
      },
      async startClients() {
        const { secret } = installation;
        const clients = new Clients(ledgers, { port: api_bind, secret, per_second: PER_SECOND, keyed: 1 });
        print(`${PER_SECOND} messages per second`);
        await pause(CALM_MS);
        return clients;
      },
    });
  } finally {
    await runAll('the drill', stops);
  }
}
