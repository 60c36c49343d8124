import { hashSecret } from '@postrider/core/api-keys';
import { httpRequest } from '../measure/http-connection.ts';
import { requireOnly, runLoad } from '../measure/load.ts';
import { measureRounds, type Rounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import {
  type ProductDatabase,
  type ProductProcess,
  prepareProduct,
  secretOf,
  startProduct,
} from '../product/product.ts';
import { seeded, seedMessages, workspaceIds } from '../product/seed.ts';
import { vacuum } from '../product/vacuum.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 20;
const SMALL = 100_000;
const DAYS = 60;
const REQUESTS = 400;
const CONNECTIONS = 64;

/** Each filter alone, matching many and matching few, then some combinations. */
const lists: readonly (readonly [string, string])[] = [
  ['no filter', '/v1/email/logs'],
  ['status, nine of ten', '/v1/email/logs?status=delivered'],
  ['status, one of thirty', '/v1/email/logs?status=bounced'],
  [`status, ${seeded.complained} in all`, '/v1/email/logs?status=complained'],
  ['status, none', '/v1/email/logs?status=sending'],
  ['four statuses', '/v1/email/logs?status=scheduled,queued,deferred,sending'],
  ['tag, one of ten', `/v1/email/logs?tag=${seeded.common_tag}`],
  [`tag, ${seeded.recalls} in all`, `/v1/email/logs?tag=${seeded.rare_tag}`],
  ['two tags', `/v1/email/logs?tag=shop&tag=${seeded.common_tag}`],
  ['to, four in all', '/v1/email/logs?to=u777@example.com'],
  ['to, one of a hundred', `/v1/email/logs?to=${seeded.common_recipient}`],
  ['from, nine of ten', `/v1/email/logs?from=${seeded.common_sender}`],
  [`from, ${seeded.from_rare_sender} in all`, `/v1/email/logs?from=${seeded.rare_sender}`],
  ['domain, nearly all', '/v1/email/logs?domain=mail.example.com'],
  [`domain, ${seeded.from_rare_sender} in all`, `/v1/email/logs?domain=${seeded.rare_domain}`],
  ['domain of 5,000 senders, one of 60', `/v1/email/logs?domain=${seeded.crowded_domain}`],
  ['status and from', `/v1/email/logs?status=failed&from=${seeded.common_sender}`],
  ['status, domain and tag', `/v1/email/logs?status=delivered&domain=mail.example.com&tag=${seeded.common_tag}`],
  ['to, tag and status, never', `/v1/email/logs?to=${seeded.common_recipient}&tag=shop&status=bounced`],
  ['events', '/v1/events'],
  ['events of a type, four of ten', '/v1/events?type=email.delivered'],
  [`events of a type, ${seeded.complained} in all`, '/v1/events?type=email.complained'],
];

/** Measures R1 and R2: lists and inserts with very many messages against few or no messages. */
export function benchLogs(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureLogs(server, options));
}

async function measureLogs(server: BenchServer, { messages, ...rest }: BenchOptions): Promise<Report[]> {
  const small = await prepareProduct(await server.database('logs_small'), KEYS);
  const big = await prepareProduct(await server.database('logs_big'), KEYS);
  await fill(small, SMALL);
  await fill(big, messages);
  const options = { ...rest, messages };
  const reports = [await measureLists(small, big, options), await measureInserts(server, big, options)];
  await small.stop();
  await big.stop();
  return reports;
}

async function fill(product: ProductDatabase, messages: number): Promise<void> {
  const started = performance.now();
  await seedMessages(product.sql, messages, await workspaceIds(product.sql));
  await vacuum(product.sql);
  process.stdout.write(`Seeded ${messages} messages in ${((performance.now() - started) / 1000).toFixed(0)} s.\n`);
}

/** Returns the API keys, starting with the key of the workspace that has the most messages. */
async function secretsBySize({ sql, requests }: ProductDatabase): Promise<string[]> {
  const secrets = requests.map(secretOf);
  const rows = await sql<{ hash: string; messages: number }[]>`
    select encode(k.secret_hash, 'hex') as hash, count(m.id)::int as messages
    from api_keys k join messages m on m.workspace_id = k.workspace_id
    where m.id > id_floor(now() - interval '1 day') group by 1`;
  const size = new Map(rows.map((row) => [row.hash, row.messages]));
  const sizeOf = (secret: string) => size.get(hashSecret(secret).toString('hex')) ?? 0;
  return secrets.sort((left, right) => sizeOf(right) - sizeOf(left));
}

interface Side {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly rest: ProductProcess;
}

/**
 * Requests pages at random positions over one connection, half of them in the largest workspace. Alternates between the
 * databases with few and with many messages.
 */
async function measureLists(few: ProductDatabase, many: ProductDatabase, options: BenchOptions): Promise<Report> {
  const { rounds: count, seconds, messages } = options;
  const open = async (name: string, product: ProductDatabase): Promise<Side> => ({
    name,
    secrets: await secretsBySize(product),
    rest: await startProduct(product, { ROLES: 'rest' }),
  });
  const sides = [await open('few', few), await open('many', many)];
  const measure = async (label: string, path: string, { secrets, rest }: Side) => {
    const result = await runLoad({ port: rest.port, connections: 1, seconds, requests: pagesAnywhere(path, secrets) });
    requireOnly(200, result, label);
    return result;
  };
  try {
    // One uncounted run: it plans the statements and reads the indexes from disk.
    for (const [label, path] of lists) for (const side of sides) await measure(label, path, side);
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      for (const [label, path] of lists) {
        for (const side of sides) {
          const { p50_ms, p99_ms } = await measure(label, path, side);
          keep(`${label}, ${side.name}, p50 ms`, p50_ms);
          keep(`${label}, ${side.name}, p99 ms`, p99_ms);
        }
      }
    });
    return {
      title: `Lists at random positions of ${messages} messages (${SMALL} in brackets), × compares p99`,
      lines: linesOf(rounds),
      rounds,
    };
  } finally {
    for (const { rest } of sides) await rest.stop();
  }
}

function linesOf(rounds: Rounds): Line[] {
  const values = (label: string, side: string, figure: string) => rounds.values(`${label}, ${side}, ${figure} ms`);
  const lines = lists.map(([label]) => {
    const figure = (measure: string) =>
      `${median(values(label, 'many', measure)).toFixed(1)} (${median(values(label, 'few', measure)).toFixed(1)})`;
    const ratios = ratiosOf(values(label, 'many', 'p99'), values(label, 'few', 'p99'));
    return line('R1', label, `p50 ${figure('p50')}  p99 ${figure('p99')} ms`, ratios, { at_most: 1.5 });
  });
  const worst = Math.max(...lists.map(([label]) => median(values(label, 'many', 'p99'))));
  return [...lines, line('R1', 'the slowest p99 ÷ 10 ms', `${worst.toFixed(1)} ms`, [worst / 10], { at_most: 1 })];
}

function pagesAnywhere(path: string, secrets: readonly string[]): Buffer[] {
  const now_ms = performance.timeOrigin + performance.now();
  return Array.from({ length: REQUESTS }, (_, index) => {
    const secret = secrets[index % 2 === 0 ? 0 : index % secrets.length] ?? '';
    const until = new Date(now_ms - Math.random() * DAYS * 86_400_000).toISOString();
    return httpRequest('GET', `${path}${path.includes('?') ? '&' : '?'}until=${until}`, secret);
  });
}

const FULL = 'accept with many messages, /s';
const EMPTY = 'accept on empty tables, /s';

async function measureInserts(server: BenchServer, full: ProductDatabase, options: BenchOptions): Promise<Report> {
  const { rounds: count, seconds, messages } = options;
  const empty = await prepareProduct(await server.database('logs_empty'), KEYS);
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      await empty.reset();
      keep(EMPTY, await insertRate(empty, seconds));
      keep(FULL, await insertRate(full, seconds));
    });
    const [filled, bare] = [rounds.values(FULL), rounds.values(EMPTY)];
    const value = `${median(filled).toFixed(0)} ÷ ${median(bare).toFixed(0)} /s`;
    const label = `accept with ${messages} messages ÷ on empty tables`;
    return {
      title: 'Inserts, medians',
      lines: [line('R2', label, value, ratiosOf(filled, bare), { at_least: 0.9 })],
      rounds,
    };
  } finally {
    await empty.stop();
  }
}

async function insertRate(product: ProductDatabase, seconds: number): Promise<number> {
  const { requests } = product;
  const rest = await startProduct(product, { ROLES: 'rest' });
  try {
    await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: 1, requests });
    const result = await runLoad({ port: rest.port, connections: CONNECTIONS, seconds, requests });
    requireOnly(202, result, 'an insert');
    return result.rate;
  } finally {
    await rest.stop();
  }
}
