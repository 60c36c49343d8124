import { catalogue } from '@postrider/core';
import { hashSecret } from '@postrider/core/api-keys';
import { startCaptureServer } from '@postrider/mail';
import { createQueue } from '@postrider/queue';
import { type BenchServer, startBenchServer } from './database.ts';
import { httpRequest, type LoadResult, median, percentile, runLoad } from './load.ts';
import { type ProductDatabase, prepareProduct, startProduct } from './product.ts';
import { seeded, seedMessages, vacuum, workspaceIds } from './seed.ts';
import { type Line, medianRatio, printLines } from './table.ts';

const KEYS = 20;
const SMALL = 100_000;
const DAYS = 60;
const REQUESTS = 400;
const CONNECTIONS = 64;
const FUTURE_JOBS = 500_000;
const MAILS = 50;
const SPREAD_MS = 10_000;

export interface LogsOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly messages: number;
}

/** Each filter by itself, where it matches much and where it matches little, then some together. */
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

/** R1 and R2: lists and inserts with very many messages beside few or none. J2: scheduled mail beside many jobs. */
export async function benchLogs({ rounds, seconds, messages }: LogsOptions): Promise<void> {
  const server = await startBenchServer();
  try {
    const small = await prepareProduct(await server.database('logs_small'), KEYS);
    const big = await prepareProduct(await server.database('logs_big'), KEYS);
    await fill(small, SMALL);
    await fill(big, messages);
    await measureLists(small, big, { rounds, seconds, messages });
    await measureInserts(server, big, { rounds, seconds, messages });
    await small.stop();
    await big.stop();
    await measureScheduled(server);
  } finally {
    await server.stop();
  }
}

async function fill(product: ProductDatabase, messages: number): Promise<void> {
  const started = performance.now();
  await seedMessages(product.sql, messages, await workspaceIds(product.sql));
  await vacuum(product.sql);
  process.stdout.write(`Seeded ${messages} messages in ${((performance.now() - started) / 1000).toFixed(0)} s.\n`);
}

function secretOf(request: Buffer): string {
  return /Bearer (\S+)/.exec(request.toString())?.[1] ?? '';
}

/** The keys of a product, that of the workspace with the most messages first. */
async function secretsBySize({ sql, requests }: ProductDatabase): Promise<string[]> {
  const secrets = requests.map(secretOf);
  const rows = await sql<{ hash: string; messages: number }[]>`
    select encode(k.secret_hash, 'hex') as hash, count(m.id)::int as messages
    from api_keys k join messages m on m.workspace_id = k.workspace_id
    where m.id > id_floor('msg_', now() - interval '1 day') group by 1`;
  const size = new Map(rows.map((row) => [row.hash, row.messages]));
  const sizeOf = (secret: string) => size.get(hashSecret(secret).toString('hex')) ?? 0;
  return secrets.sort((left, right) => sizeOf(right) - sizeOf(left));
}

/** One connection asks for pages that begin anywhere, half of them in the largest workspace; few and many in turn. */
async function measureLists(few: ProductDatabase, many: ProductDatabase, options: LogsOptions): Promise<void> {
  const { rounds, seconds, messages } = options;
  const sides = await Promise.all(
    [few, many].map(async (product) => ({
      secrets: await secretsBySize(product),
      rest: await startProduct(product.url, { ROLES: 'rest' }),
    })),
  );
  const lines: Line[] = [];
  let worst = 0;
  try {
    for (const [what, path] of lists) {
      const results: LoadResult[][] = [[], []];
      for (let round = 0; round <= rounds; round++) {
        for (const [index, { secrets, rest }] of sides.entries()) {
          const requests = pagesAnywhere(path, secrets);
          const result = await runLoad({ port: rest.port, connections: 1, seconds, requests });
          requireOnly(200, result.statuses, what);
          // The first round plans the statements and reads the indexes from the disk.
          if (round > 0) results[index]?.push(result);
        }
      }
      const [small, large] = results.map((list) => ({
        p50_ms: median(list.map((result) => result.p50_ms)),
        // Whatever else runs only adds to it, so the round that was disturbed least shows it best.
        p99_ms: Math.min(...list.map((result) => result.p99_ms)),
      }));
      if (small === undefined || large === undefined) throw new Error('a side was not measured');
      worst = Math.max(worst, large.p99_ms);
      const shown = (of: 'p50_ms' | 'p99_ms') => `${large[of].toFixed(1)} (${small[of].toFixed(1)})`;
      const value = `p50 ${shown('p50_ms')}  p99 ${shown('p99_ms')} ms`;
      lines.push({ id: 'R1', what, value, ratio: large.p99_ms / small.p99_ms, goal: { at_most: 1.5 } });
    }
  } finally {
    for (const { rest } of sides) await rest.stop();
  }
  lines.push({ id: 'R1', what: 'the slowest p99 ÷ 10 ms', value: '', ratio: worst / 10, goal: { at_most: 1 } });
  printLines(`Lists at random places of ${messages} messages, in brackets of ${SMALL}; × is of the p99`, lines);
}

/** A figure counts only if every answer was the right one. */
function requireOnly(wanted: number, statuses: LoadResult['statuses'], what: string): void {
  const others = [...statuses.keys()].filter((status) => status !== wanted);
  if (others.length > 0) throw new Error(`${what} was answered with ${others.join(', ')}`);
}

function pagesAnywhere(path: string, secrets: readonly string[]): Buffer[] {
  const now_ms = performance.timeOrigin + performance.now();
  return Array.from({ length: REQUESTS }, (_, index) => {
    const secret = secrets[index % 2 === 0 ? 0 : index % secrets.length] ?? '';
    const until = new Date(now_ms - Math.random() * DAYS * 86_400_000).toISOString();
    return httpRequest('GET', `${path}${path.includes('?') ? '&' : '?'}until=${until}`, secret);
  });
}

async function measureInserts(server: BenchServer, full: ProductDatabase, options: LogsOptions): Promise<void> {
  const { rounds, seconds, messages } = options;
  const empty = await prepareProduct(await server.database('logs_empty'), KEYS);
  const rates: { full: number[]; empty: number[] } = { full: [], empty: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      await empty.reset();
      rates.empty.push(await insertRate(empty, seconds));
      rates.full.push(await insertRate(full, seconds));
    }
  } finally {
    await empty.stop();
  }
  const shown = (list: readonly number[]) => list.map((rate) => rate.toFixed(0)).join(', ');
  printLines('Inserts', [
    {
      id: 'R2',
      what: `accept with ${messages} messages ÷ on empty tables`,
      value: `${shown(rates.full)} ÷ ${shown(rates.empty)} /s`,
      ratio: medianRatio(rates.full, rates.empty),
      goal: { at_least: 0.9 },
    },
  ]);
}

async function insertRate({ url, requests }: ProductDatabase, seconds: number): Promise<number> {
  const rest = await startProduct(url, { ROLES: 'rest' });
  try {
    await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: 1, requests });
    const { rate, statuses } = await runLoad({ port: rest.port, connections: CONNECTIONS, seconds, requests });
    requireOnly(202, statuses, 'an insert');
    return rate;
  } finally {
    await rest.stop();
  }
}

/** J2: how late scheduled mail arrives, while half a million jobs wait for later. */
async function measureScheduled(server: BenchServer): Promise<void> {
  const product = await prepareProduct(await server.database('scheduled'), 1);
  const [request] = product.requests;
  const arrivals = new Map<string, number>();
  const now = () => performance.timeOrigin + performance.now();
  const sink = await startCaptureServer({
    host: '127.0.0.1',
    port: 0,
    async on_mail({ raw }) {
      const id = /^Message-ID: <(msg_[^@]+)@/im.exec(raw.toString('latin1'))?.[1] ?? '';
      arrivals.set(id, now());
    },
  });
  try {
    await addFutureJobs(product);
    const running = await startProduct(product.url, {
      ROLES: 'rest,worker',
      DELIVERY: `smtp://127.0.0.1:${sink.port}`,
      RETURN_PATH_DOMAIN: 'bounces.example.com',
    });
    const due = new Map<string, number>();
    const started = now();
    for (let index = 0; index < MAILS; index++) {
      const at = new Date(started + 2000 + Math.round((index * SPREAD_MS) / MAILS));
      const answer = await fetch(`http://127.0.0.1:${running.port}/v1/email/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secretOf(request ?? Buffer.alloc(0))}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          from: 'app@mail0.example.com',
          to: 'ada@rcpt.test',
          subject: 'Later',
          text: 'Later',
          scheduled_at: at.toISOString(),
        }),
      });
      due.set(/msg_\w+/.exec(await answer.text())?.[0] ?? '', at.getTime());
    }
    const given_up = started + SPREAD_MS + 20_000;
    while (arrivals.size < due.size && now() < given_up) await new Promise((resolve) => setTimeout(resolve, 100));
    await running.stop();
    const late = [...due].map(([id, at]) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at);
    late.sort((left, right) => left - right);
    const value = `earliest ${late[0]?.toFixed(0)} ms, p50 ${percentile(late, 50).toFixed(0)} ms`;
    printLines(`${MAILS} scheduled mails beside ${FUTURE_JOBS} jobs of the future`, [
      {
        id: 'J2',
        what: 'p99 late, in s; never early',
        value,
        ratio: percentile(late, 99) / 1000,
        goal: { at_most: 1 },
      },
    ]);
  } finally {
    await sink.stop();
    await product.stop();
  }
}

async function addFutureJobs({ sql, url }: ProductDatabase): Promise<void> {
  const jobs = createQueue({
    sql,
    url,
    catalogue,
    application_name: 'bench',
    max_connections: 1,
    supervise: false,
    on_error(error) {
      throw error;
    },
  });
  await jobs.start();
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await jobs.insertion(
      tx,
      'delivery.attempt',
      tx`
        select gen_random_uuid() as id,
          jsonb_build_object('workspace_id', 'wsp_x', 'message_id', 'msg_' || i, 'recipient_id', 'rcp_' || i) as data,
          now() + interval '1 hour' + i * interval '5 seconds' as start_after
        from generate_series(1, ${FUTURE_JOBS}::int) as i`,
    );
  });
  await jobs.stop();
  await vacuum(sql);
}
