import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Keep, measureRounds } from '../measure/rounds.ts';
import { ascending, median, percentile, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { acceptRate } from '../product/accept-rate.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { freePort } from '../product/free-port.ts';
import { type ProductDatabase, type ProductProcess, prepareProduct, startProduct } from '../product/product.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 100;
const CONNECTIONS = 64;
// Telemetry may cost two in a hundred accepted mails.
const LEAST_SHARE = 0.98;
const SCRAPE_MS = 1000;
const TRACED = '0.01';

const DESTINATIONS = 10_000;
const WORKSPACES = 1000;
const SCRAPES = 100;
const MOST_SERIES = 3000;
const MOST_MS = 100;
// A turn of the watch, which reads the gauges of the instance.
const WATCHED_MS = 20_000;

/** What telemetry costs accept, and a scrape of a large instance. */
export function benchTelemetry(options: BenchOptions): Promise<Report[]> {
  return onBenchServer(async (server) => [await measureCost(server, options), await measureScrape(server)]);
}

const WITHOUT = 'accepted/s without telemetry';
const COUNTED = 'accepted/s with metrics, log and a scrape each second';
const TRACED_TOO = 'accepted/s with OTLP and one trace in a hundred besides';

/** Each round measures all settings on one database, and begins with another of them. */
async function measureCost(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report> {
  const product = await prepareProduct(await server.database('telemetry'), KEYS);
  const collector = await startCollector();
  const settings: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
    [WITHOUT]: async () => ({
      NODE_OPTIONS: `--import ${new URL('../product/without-telemetry.ts', import.meta.url)}`,
    }),
    [COUNTED]: async () => ({ METRICS_PORT: String(await freePort()) }),
    [TRACED_TOO]: async () => ({
      METRICS_PORT: String(await freePort()),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER_ARG: TRACED,
    }),
  };
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep, round) => {
      const names = Object.keys(settings);
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(round + turn) % names.length] ?? '';
        await measureSetting(product, name, (await settings[name]?.()) ?? {}, seconds, keep);
      }
    });
    const without = rounds.values(WITHOUT);
    const beside = (name: string) => {
      const value = `${median(rounds.values(name)).toFixed(0)} ÷ ${median(without).toFixed(0)}`;
      return line('T1', `${name} ÷ without`, value, ratiosOf(rounds.values(name), without), { at_least: LEAST_SHARE });
    };
    return {
      title: 'What telemetry costs accept (A1), in turns',
      lines: [beside(COUNTED), beside(TRACED_TOO)],
      rounds,
    };
  } finally {
    await collector.stop();
    await product.stop();
  }
}

async function measureSetting(
  product: ProductDatabase,
  name: string,
  env: Readonly<Record<string, string>>,
  seconds: number,
  keep: Keep,
): Promise<void> {
  const { METRICS_PORT } = env;
  const scraping = METRICS_PORT === undefined ? null : setInterval(() => void scrape(METRICS_PORT), SCRAPE_MS);
  const start = async () => [await startProduct(product, { ROLES: 'rest', LOG_LEVEL: 'info', ...env }, 'quiet')];
  try {
    const { rate } = await acceptRate(product, start, { keys: KEYS, connections: CONNECTIONS, seconds });
    keep(name, rate);
  } finally {
    if (scraping) clearInterval(scraping);
  }
}

async function scrape(port: string): Promise<string> {
  // Before the process listens, and after it stopped, there is nothing to scrape.
  return fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
}

/** Takes what it is sent. */
async function startCollector(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Listening on a port, so its address is not a path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Series and time of a scrape of the process that reads the gauges, with many destinations and workspaces. */
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
      const asked = performance.now();
      text = await scrape(METRICS_PORT);
      times.push(performance.now() - asked);
    }
    const series = text.split('\n').filter((one) => one !== '' && !one.startsWith('#')).length;
    const p99 = percentile(ascending(times), 99);
    const lines = [
      line('T2', `series of a scrape ÷ ${MOST_SERIES}`, String(series), [series / MOST_SERIES], { at_most: 1 }),
      line('T2', `time of a scrape, p99 ÷ ${MOST_MS} ms`, `${p99.toFixed(1)} ms`, [p99 / MOST_MS], { at_most: 1 }),
    ];
    const title = `A scrape at ${DESTINATIONS} destinations and ${WORKSPACES} workspaces`;
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
