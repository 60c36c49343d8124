import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@postrider/testing/free-port';
import { Database } from '../faults/database.ts';
import { type Ledgers, newLedgers } from '../faults/ledgers.ts';
import { startPostgres } from '../faults/postgres.ts';
import type { Slot } from '../faults/processes.ts';
import { wallTime } from '../faults/wall-time.ts';
import { type Haproxy, startHaproxy } from './haproxy.ts';
import { type Installation, openInstallation } from './installation.ts';

const UP_MS = 60_000;

/** Two API and two worker processes on one Postgres, the APIs behind HAProxy. */
export interface BehindHaproxy {
  readonly url: string;
  readonly ledgers: Ledgers;
  readonly installation: Installation;
  readonly database: Database;
  readonly haproxy: Haproxy;
  /** The port HAProxy listens on. */
  readonly bind: number;
  /** The port where HAProxy looks for a third API. */
  readonly spare_port: number;
  readonly apis: readonly [Slot, Slot];
  readonly workers: readonly [Slot, Slot];
}

/** Starts the processes, and registers a function to stop each one. */
export async function openBehindHaproxy(
  stops: (() => Promise<void>)[],
  { drain, folder }: { readonly drain: string; readonly folder: string },
): Promise<BehindHaproxy> {
  const postgres = await startPostgres();
  stops.unshift(() => postgres.stop());
  const url = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
  const ledgers = newLedgers();
  const env = { LIMITS: `drain=${drain}` };
  const installation = await openInstallation(ledgers, { database_url: url, direct_url: url, env, folder });
  stops.unshift(() => installation.stop());
  const database = new Database(url);
  stops.unshift(() => database.stop());
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const bind = await freePort();
  const haproxy = await startHaproxy('haproxy.cfg', addresses(bind, ports), folder);
  stops.unshift(() => haproxy.stop());
  await database.liftRateLimits();
  const apis = [installation.open('api-1', 'rest', ports[0]), installation.open('api-2', 'rest', ports[1])] as const;
  const workers = [
    installation.open('worker-1', 'worker', await freePort()),
    installation.open('worker-2', 'worker', await freePort()),
  ] as const;
  for (const slot of [...apis, ...workers]) await slot.untilReady();
  await untilUp(haproxy, ['api-1', 'api-2']);
  return { url, ledgers, installation, database, haproxy, bind, spare_port: ports[2], apis, workers };
}

function addresses(bind: number, ports: readonly number[]): Record<string, string> {
  const dead_address = '127.0.0.1:1';
  const at = (index: number) => (ports[index] === undefined ? dead_address : `127.0.0.1:${ports[index]}`);
  return {
    POSTRIDER_BIND: `127.0.0.1:${bind}`,
    ...Object.fromEntries([0, 1, 2, 3].map((index) => [`POSTRIDER_API_${index + 1}`, at(index)])),
  };
}

export async function untilUp(haproxy: Haproxy, names: readonly string[]): Promise<void> {
  for (const until = wallTime() + UP_MS; ; ) {
    const servers = await haproxy.servers('ready');
    const down_names = names.filter((name) => !servers.get(name)?.up);
    if (down_names.length === 0) return;
    if (wallTime() > until) throw new Error(`HAProxy sees ${down_names.join(', ')} down after ${UP_MS / 1000} s`);
    await pause(50);
  }
}
