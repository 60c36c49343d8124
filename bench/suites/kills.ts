import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '@postrider/db';
import { runOpenLoop } from '../measure/open-loop.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { type ProductProcess, prepareProduct, startProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { startSink } from '../receivers/sink.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 10;
const KILLS = 20;
const PACE = 100;
const BETWEEN_KILLS_MS = 1500;
const SMALL = 4 * 1024;
// The claims of a dead worker are recovered once its heartbeat has timed out and its lease has expired, which takes
// half a minute each.
const LIMIT_MS = 150_000;

/**
 * Kills a worker twenty times at a hundred messages per second, with another one running: nothing lost, few sent twice.
 */
export function benchKills(): Promise<Report[]> {
  return onBenchServer(measureKills);
}

async function measureKills(server: BenchServer): Promise<Report[]> {
  const product = await prepareProduct(await server.database('product'), KEYS);
  const copies = new Map<string, Set<string>>();
  let received = 0;
  const sink = await startSink((mail) => {
    const message_id = /^Message-ID:\s*(\S+)/im.exec(mail)?.[1] ?? '';
    copies.set(message_id, (copies.get(message_id) ?? new Set()).add(hash('sha256', mail)));
    received += 1;
  });
  const environment = { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RETURN_PATH_DOMAIN: 'bounces.example.com' };
  const start = (ROLES: string) => startProduct(product, { ...environment, ROLES });
  const processes: ProductProcess[] = [];
  try {
    const rest = await start('rest');
    processes.push(rest);
    const workers = [await start('worker'), await start('worker')];
    let killing = true;
    const requests = product.requestsOf(letter(SMALL));
    const load = (async () => {
      let accepted = 0;
      while (killing) {
        const { statuses } = await runOpenLoop({ port: rest.port, rate: PACE, seconds: 1, requests });
        accepted += statuses.get(202) ?? 0;
      }
      return accepted;
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(BETWEEN_KILLS_MS);
      await workers[kill % 2]?.kill();
      workers[kill % 2] = await start('worker');
    }
    killing = false;
    processes.push(...workers);
    const accepted = await load;
    const open = await waitUntilClosed(product.sql);
    const [stored] = await product.sql<{ count: number }[]>`select count(*)::int as count from messages`;
    const lost = (stored?.count ?? 0) - copies.size + open;
    const changed = [...copies.values()].filter((hashes) => hashes.size > 1).length;
    const duplicates = received - copies.size;
    const lines = [
      line('', 'lost', '', [lost], { at_most: 0 }),
      line('', 'sent twice, per kill', `${duplicates} of ${received} copies`, [duplicates / KILLS], {
        at_most: 3,
      }),
      line('', 'messages with differing copies', '', [changed], { at_most: 0 }),
    ];
    const title = `A worker killed ${KILLS} times at ${PACE}/s, with another running; ${accepted} messages accepted`;
    return [{ title, lines, rounds: null }];
  } finally {
    for (const process of processes.reverse()) await process.stop();
    await product.stop();
    await sink.stop();
  }
}

/** Returns how many recipients are still open after everything recoverable has been recovered. */
async function waitUntilClosed(sql: Sql): Promise<number> {
  const started = performance.now();
  for (;;) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from recipients where state <> 'delivered'`;
    const open = row?.count ?? 0;
    if (open === 0 || performance.now() - started > LIMIT_MS) return open;
    await delay(200);
  }
}
