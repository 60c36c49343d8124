import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '@postrider/testing/free-port';
import { requireOnly } from '../measure/load.ts';
import { processorSeconds } from '../measure/processor-time.ts';
import { measureRounds } from '../measure/rounds.ts';
import { ascending, median, percentile, ratiosOf } from '../measure/statistics.ts';
import { runSends } from '../measure/wrk.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { type ProductDatabase, type ProductProcess, prepareProduct, startProduct } from '../product/product.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 100;
const CONNECTIONS = 64;
// Telemetry may cost 2% of the accepted messages.
const MIN_SHARE = 0.98;
const MAX_PROCESSOR = 1.02;
const SCRAPE_MS = 1000;
const TRACED = '0.01';
const ACCEPTED = 202;
const WARM_SECONDS = 3;
// Turns per setting and round.
const TURNS = 4;

const DESTINATIONS = 10_000;
const WORKSPACES = 1000;
const SCRAPES = 100;
const MAX_SERIES = 3000;
const MAX_MS = 100;
// How long the watch may take to read the gauges of the instance.
const WATCHED_MS = 20_000;

/** Measures the cost of telemetry to accept, and the cost of scraping a large instance. */
export function benchTelemetry(options: BenchOptions): Promise<Report[]> {
  return onBenchServer(async (server) => [await measureCost(server, options), await measureScrape(server)]);
}

const WITHOUT = 'without telemetry';
const WITH_TELEMETRY = 'with metrics, logs and a scrape per second';
const TRACED_TOO = 'plus OTLP and 1 trace in 100';
const SETTINGS = [WITHOUT, WITH_TELEMETRY, TRACED_TOO];
const RATE = 'accepted/s';
const PROCESSOR = 'µs per email';

/**
 * Measures the cost of telemetry. The settings run side by side on one database, with one under load at a time, so that
 * all see the same machine. The first turns of each setting compile and load the code that its process needs from then
 * on.
 */
async function measureCost(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report> {
  const product = await prepareProduct(await server.database('telemetry'), KEYS);
  const collector = await startCollector();
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep, round) => {
      await product.reset();
      const running = await startSettings(product, collector.url);
      try {
        for (const one of running) await takeTurn(product, one, WARM_SECONDS);
        const starts = running.map((one) => ({
          ...one,
          seconds: processorSeconds([one.process.pid]),
          used: emptyUse(),
        }));
        for (let turn = 0; turn < TURNS * starts.length; turn++) {
          const pass = Math.floor(turn / starts.length);
          const one = starts[(round + pass + turn) % starts.length];
          if (one) add(one.used, await takeTurn(product, one, seconds));
        }
        // CPU time that a process spends on exporting telemetry after its turn counts as well.
        for (const { name, process, seconds: before, used } of starts) {
          const node = processorSeconds([process.pid]) - before;
          keep(`${RATE} ${name}`, used.messages / used.seconds);
          keep(`${PROCESSOR} ${name}`, ((node + used.database_seconds) / used.messages) * 1e6);
        }
      } finally {
        for (const { process } of running) await process.stop();
      }
    });
    const beside = (label: string, name: string, goal: { at_least: number } | { at_most: number }) => {
      const [values, without] = [rounds.values(`${label} ${name}`), rounds.values(`${label} ${WITHOUT}`)];
      const value = `${median(values).toFixed(0)} ÷ ${median(without).toFixed(0)}`;
      return line('T1', `${label} ${name} ÷ without`, value, ratiosOf(values, without), goal);
    };
    const goals = { [RATE]: { at_least: MIN_SHARE }, [PROCESSOR]: { at_most: MAX_PROCESSOR } };
    return {
      title: 'Cost of telemetry to accept (A1), alternating',
      lines: Object.entries(goals).flatMap(([label, goal]) =>
        [WITH_TELEMETRY, TRACED_TOO].map((name) => beside(label, name, goal)),
      ),
      rounds,
    };
  } finally {
    await collector.stop();
    await product.stop();
  }
}

interface RunningSetting {
  readonly name: string;
  readonly process: ProductProcess;
  /** Null if nothing is exposed. */
  readonly metrics_port: string | null;
}

/** The messages and duration of a setting's turns, and the CPU time of Postgres. */
interface Use {
  messages: number;
  seconds: number;
  database_seconds: number;
}

const emptyUse = (): Use => ({ messages: 0, seconds: 0, database_seconds: 0 });

function add(to: Use, turn: Use): void {
  to.messages += turn.messages;
  to.seconds += turn.seconds;
  to.database_seconds += turn.database_seconds;
}

async function startSettings(product: ProductDatabase, collector: string): Promise<RunningSetting[]> {
  const running: RunningSetting[] = [];
  for (const name of SETTINGS) {
    const metrics_port = name === WITHOUT ? null : String(await freePort());
    const process = await startProduct(
      product,
      {
        ROLES: 'rest',
        LOG_LEVEL: 'info',
        ...(metrics_port === null
          ? { NODE_OPTIONS: `--import ${new URL('../product/without-telemetry.ts', import.meta.url)}` }
          : { METRICS_PORT: metrics_port }),
        ...(name === TRACED_TOO && {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector,
          OTEL_TRACES_SAMPLER_ARG: TRACED,
        }),
      },
      'quiet',
    );
    running.push({ name, process, metrics_port });
  }
  return running;
}

async function takeTurn(
  { requests, postmaster }: ProductDatabase,
  { name, process, metrics_port }: RunningSetting,
  seconds: number,
): Promise<Use> {
  const scrapeIt = () => metrics_port !== null && void scrape(metrics_port);
  const before = processorSeconds([postmaster]);
  scrapeIt();
  const scraping = setInterval(scrapeIt, SCRAPE_MS);
  try {
    const result = await runSends({ port: process.port, connections: CONNECTIONS, seconds, requests });
    requireOnly(ACCEPTED, result, name);
    const database_seconds = processorSeconds([postmaster]) - before;
    return { messages: result.rate * seconds, seconds, database_seconds };
  } finally {
    clearInterval(scraping);
  }
}

async function scrape(port: string): Promise<string> {
  // Before the process listens and after it has stopped, there is nothing to scrape.
  return fetch(`http://127.0.0.1:${port}/metrics`).then(
    (response) => response.text(),
    () => '',
  );
}

/** Accepts and discards telemetry. */
async function startCollector(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server listens on a port, so its address is an object, not a path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Measures the series count and duration of a scrape of the process that reads the gauges, with many destinations and
 * workspaces.
 */
async function measureScrape(server: BenchServer): Promise<Report> {
  const product = await prepareProduct(await server.database('scrape'), 1);
  await seedMany(product);
  const METRICS_PORT = String(await freePort());
  const running: ProductProcess = await startProduct(product, {
    METRICS_PORT,
    DELIVERY: 'capture',
    CAPTURE_PORT: String(await freePort()),
    INBOUND_PORT: String(await freePort()),
  });
  try {
    const deadline = performance.now() + WATCHED_MS;
    while (!/^postrider_backlog_messages\{/m.test(await scrape(METRICS_PORT))) {
      if (performance.now() > deadline) throw new Error('no process reads the gauges of the instance');
    }
    const times: number[] = [];
    let text = '';
    for (let number = 0; number < SCRAPES; number++) {
      const started_at = performance.now();
      text = await scrape(METRICS_PORT);
      times.push(performance.now() - started_at);
    }
    const series = text.split('\n').filter((one) => one !== '' && !one.startsWith('#')).length;
    const p99 = percentile(ascending(times), 99);
    const lines = [
      line('T2', `series per scrape ÷ ${MAX_SERIES}`, String(series), [series / MAX_SERIES], { at_most: 1 }),
      line('T2', `scrape time, p99 ÷ ${MAX_MS} ms`, `${p99.toFixed(1)} ms`, [p99 / MAX_MS], { at_most: 1 }),
    ];
    const title = `A scrape with ${DESTINATIONS} destinations and ${WORKSPACES} workspaces`;
    return { title, lines, rounds: null };
  } finally {
    await running.stop();
    await product.stop();
  }
}

async function seedMany({ sql }: ProductDatabase): Promise<void> {
  await sql`
    insert into workspaces (id, name, plan, created_at)
    select derived_id('wsp', no_id(), n::text), 'Many', 'bench', now() from generate_series(1, ${WORKSPACES}::int) n`;
  await sql`
    insert into usage_months (workspace_id, month, used, monthly_limit)
    select id, date_trunc('month', clock_now() at time zone 'UTC')::date, 10, 3000 from workspaces`;
  await sql`
    insert into backlog_rows (workspace_id, dimension, key, total, counts, oldest_at)
    select no_id(), d.dimension, d.dimension || ' ' || n, n, '{}', clock_now()
    from generate_series(1, ${DESTINATIONS}::int) n
    cross join (values ('provider'), ('destination')) d (dimension)`;
}
