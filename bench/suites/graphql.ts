import { randomBytes } from 'node:crypto';
import { newId } from '@postrider/core';
import { hashSecret } from '@postrider/core/api-keys';
import type { Sql } from '@postrider/db';
import { httpRequest } from '../measure/http-connection.ts';
import { requireOnly, runLoad } from '../measure/load.ts';
import { measureRounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { prepareProduct, startProduct } from '../product/product.ts';
import { seedMessages, workspaceIds } from '../product/seed.ts';
import { type Line, line, type Report } from '../report/table.ts';

const MESSAGES = 20_000;
// A key has a budget of points per minute, so a load test needs many keys.
const KEYS = 800;
const CONNECTIONS = 8;
const PAGE = 50;

const entry = `id status from to cc bcc replyTo subject tags metadata createdAt scheduledAt sentAt deliveredAt
  recipients(first: 1) { nodes { id address kind status attemptCount lastResponse nextAttemptAt } }
  messageIdHeader requestId`;
const documents = {
  plain: `{ messages(first: ${PAGE}) { nodes { ${entry} } } }`,
  nested: `{ messages(first: ${PAGE}) { nodes { id status subject createdAt timeline(first: 10) { nodes { id type at } } } } }`,
};

const aliases = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
/** Each query carries its index in a comment, so that every document is new. */
const hostile: readonly (readonly [string, (index: number) => string])[] = [
  ['13 deep', (index) => `#${index}\n{ messages { nodes { ${'resendOf { '.repeat(10)} id ${'} '.repeat(10)} } } }`],
  ['21 aliases', (index) => `#${index}\n{ ${aliases(21, 'usage { month }')} }`],
  [
    '500 aliased mutations',
    (index) => `#${index}\nmutation { ${aliases(500, 'messageCancel(input: {id: "x"}) { __typename }')} }`,
  ],
  ['1,500 tokens', (index) => `#${index}\n{ usage { ${'month '.repeat(1500)} } }`],
  ['too complex', (index) => `#${index}\n{ messages(first: 100) { nodes { timeline(first: 100) { nodes { id } } } } }`],
  ['100 kB', (index) => `#${index}\n{ usage { month } } ${'#'.repeat(110_000)}`],
];

const sideNames = ['rest', 'plain', 'nested'] as const;
type Side = (typeof sideNames)[number];
const rateOf = (side: Side) => `${side}, /s`;

/** Measures G1, a nested GraphQL page against the REST list, and L1, how quickly excessive queries are rejected. */
export function benchGraphql(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureGraphql(server, options));
}

async function measureGraphql(server: BenchServer, { rounds, seconds }: BenchOptions): Promise<Report[]> {
  const product = await prepareProduct(await server.database('graphql'), 1);
  const [workspace_id] = await workspaceIds(product.sql);
  if (workspace_id === undefined) throw new Error('no workspace was prepared');
  await seedMessages(product.sql, MESSAGES, [workspace_id]);
  await product.sql`vacuum analyze`;
  const secrets = await addKeys(product.sql, workspace_id);
  const running = await startProduct(product, { ROLES: 'rest,admin' });
  const site = { sql: product.sql, port: running.port, secrets, seconds };
  try {
    return [await measureReads(site, rounds), await measureRefusals(site)];
  } finally {
    await running.stop();
    await product.stop();
  }
}

interface Site {
  readonly sql: Sql;
  readonly port: number;
  readonly secrets: readonly string[];
  readonly seconds: number;
}

function post(secret: string, query: string): Buffer {
  return httpRequest('POST', '/graphql', secret, { query }, { Accept: 'application/graphql-response+json' });
}

async function measureReads({ sql, port, secrets, seconds }: Site, count: number): Promise<Report> {
  const sides: Record<Side, Buffer[]> = {
    rest: secrets.map((secret) => httpRequest('GET', `/v1/email/logs?limit=${PAGE}`, secret)),
    plain: secrets.map((secret) => post(secret, documents.plain)),
    nested: secrets.map((secret) => post(secret, documents.nested)),
  };
  const measure = async (side: Side) => {
    await sql`delete from query_budgets`;
    const result = await runLoad({ port, connections: CONNECTIONS, seconds, requests: sides[side] });
    requireOnly(200, result, side);
    return result.rate;
  };
  // One uncounted run, so that code is compiled and statements are planned.
  for (const side of sideNames) await measure(side);
  const rounds = await measureRounds({ rounds: count }, async (keep) => {
    for (const side of sideNames) keep(rateOf(side), await measure(side));
  });
  const rates = (side: Side) => rounds.values(rateOf(side));
  const figure = (side: Side) => `${median(rates(side)).toFixed(0)}/s`;
  const relativeTo = (side: Side) => ratiosOf(rates(side), rates('rest'));
  const lines = [
    line('G1', `REST, ${PAGE} messages`, figure('rest')),
    line('G1', 'GraphQL, the same fields ÷ REST', figure('plain'), relativeTo('plain')),
    line('G1', 'GraphQL with timeline(first: 10) ÷ REST', figure('nested'), relativeTo('nested'), {
      at_least: 0.7,
    }),
  ];
  return { title: `GraphQL and REST, ${CONNECTIONS} connections, medians`, lines, rounds };
}

async function measureRefusals({ sql, port, secrets, seconds }: Site): Promise<Report> {
  const lines: Line[] = [];
  for (const [label, document] of hostile) {
    await sql`delete from query_budgets`;
    const requests = Array.from({ length: 100 }, (_, index) => post(secrets[index] ?? '', document(index)));
    const result = await runLoad({ port, connections: 1, seconds, count: 100, requests });
    requireOnly(400, result, label);
    const value = `p50 ${result.p50_ms.toFixed(1)}  p99 ${result.p99_ms.toFixed(1)} ms`;
    lines.push(line('L1', `${label}, time to rejection; p99 ÷ 50 ms`, value, [result.p99_ms / 50], { at_most: 1 }));
  }
  return { title: 'Rejected queries', lines, rounds: null };
}

async function addKeys(sql: Sql, workspace_id: string): Promise<string[]> {
  const secrets = Array.from({ length: KEYS }, () => `pr_live_${randomBytes(32).toString('hex')}`);
  const now_ms = Math.floor(performance.timeOrigin + performance.now());
  for (const secret of secrets) {
    await sql`
      insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at)
      values (${workspace_id}, ${newId('api_key', now_ms)}, 'Bench', ${hashSecret(secret)}, 'pr_live_', 'xxxx', '{admin}',
        'live', now())`;
  }
  return secrets;
}
