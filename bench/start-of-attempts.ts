import type { Sql } from '@postrider/db';
import type { AcceptOptions } from './accept.ts';
import { startBenchServer } from './database.ts';
import { runLoad } from './load.ts';
import { prepareProduct, startProduct } from './product.ts';
import { startSink } from './sink.ts';
import { printLines } from './table.ts';

const KEYS = 100;
const CONNECTIONS = 64;

/** J1: from the commit of a mail to the start of its first attempt, while the service runs at half its load. */
export async function benchStartOfAttempts({ seconds }: AcceptOptions): Promise<void> {
  const server = await startBenchServer();
  const sink = await startSink();
  const product = await prepareProduct(await server.database('product'), KEYS);
  const { requests } = product;
  const env = { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RETURN_PATH_DOMAIN: 'bounces.example.com' };
  try {
    const rest = await startProduct(product.url, { ...env, ROLES: 'rest' });
    const worker = await startProduct(product.url, { ...env, ROLES: 'worker' });
    // What accepting and delivering together can hold for long, on this machine, right now.
    await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: 1, requests });
    const accepted = await runLoad({ port: rest.port, connections: CONNECTIONS, seconds, requests });
    const drained = await drainRate(product.sql, sink.count);
    const pace = Math.min(accepted.rate, drained) / 2;
    await product.reset();
    const paced = await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: seconds * 2, requests, pace });
    await drainRate(product.sql, sink.count);
    const [row] = await product.sql<{ p50: number; p99: number; count: number }[]>`
      select count(*)::int as count,
        percentile_cont(0.5) within group (order by extract(epoch from sent_at - created_at) * 1000)::float8 as p50,
        percentile_cont(0.99) within group (order by extract(epoch from sent_at - created_at) * 1000)::float8 as p99
      from messages where sent_at is not null`;
    await worker.stop();
    await rest.stop();
    printLines(
      `Commit to first attempt, ${seconds * 2} s at ${pace.toFixed(0)}/s, half of what is accepted and delivered`,
      [
        { id: 'J1', what: 'p50 in ms', value: `${row?.count} mails`, ratio: row?.p50 ?? null, goal: { at_most: 10 } },
        { id: 'J1', what: 'p99 in ms', value: '', ratio: row?.p99 ?? null, goal: { at_most: 50 } },
        {
          id: 'J1',
          what: 'accepted ÷ asked for',
          value: `${paced.rate.toFixed(0)}/s`,
          ratio: paced.rate / pace,
          goal: { at_least: 0.95 },
        },
      ],
    );
  } finally {
    await product.stop();
    await sink.stop();
    await server.stop();
  }
}

/** Waits until everything accepted has been delivered; mails a second meanwhile. */
async function drainRate(sql: Sql, taken: () => number): Promise<number> {
  const started = performance.now();
  const before = taken();
  while ((await openCount(sql)) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  return ((taken() - before) / (performance.now() - started)) * 1000;
}

async function openCount(sql: Sql): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from recipients where state in ('queued', 'sending', 'deferred')`;
  return row?.count ?? 0;
}
