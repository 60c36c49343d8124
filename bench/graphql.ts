import { randomBytes } from 'node:crypto';
import { newId } from '@postrider/core';
import { hashSecret } from '@postrider/core/api-keys';
import type { Sql } from '@postrider/db';
import { startBenchServer } from './database.ts';
import { httpRequest, type LoadResult, median, runLoad } from './load.ts';
import type { LogsOptions } from './logs.ts';
import { prepareProduct, startProduct } from './product.ts';
import { seedMessages } from './seed.ts';
import { type Line, medianRatio, printLines } from './table.ts';

const MESSAGES = 20_000;
// A key has a budget of points a minute, so that a load needs many.
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
/** Each with a number in a comment, so that no document has been seen before. */
const hostile: readonly (readonly [string, (index: number) => string])[] = [
  ['13 deep', (index) => `#${index}\n{ messages { nodes { ${'resendOf { '.repeat(10)} id ${'} '.repeat(10)} } } }`],
  ['21 aliases', (index) => `#${index}\n{ ${aliases(21, 'usage { month }')} }`],
  [
    '500 aliased mutations',
    (index) => `#${index}\nmutation { ${aliases(500, 'messageCancel(input: {id: "x"}) { __typename }')} }`,
  ],
  ['1,500 tokens', (index) => `#${index}\n{ usage { ${'month '.repeat(1500)} } }`],
  ['too dear', (index) => `#${index}\n{ messages(first: 100) { nodes { timeline(first: 100) { nodes { id } } } } }`],
  ['100 kB', (index) => `#${index}\n{ usage { month } } ${'#'.repeat(110_000)}`],
];

/** G1: a nested page of GraphQL beside the list of REST. L1: how soon what asks for too much is refused. */
export async function benchGraphql({ rounds, seconds }: LogsOptions): Promise<void> {
  const server = await startBenchServer();
  try {
    const product = await prepareProduct(await server.database('graphql'), 1);
    const [workspace] = await product.sql<{ id: string }[]>`select id from workspaces where name = 'Bench'`;
    if (!workspace) throw new Error('no workspace was prepared');
    await seedMessages(product.sql, MESSAGES, [workspace.id]);
    await product.sql`vacuum analyze`;
    const secrets = await addKeys(product.sql, workspace.id);
    const running = await startProduct(product.url, { ROLES: 'rest,admin' });
    try {
      const post = (secret: string, query: string) =>
        httpRequest('POST', '/graphql', secret, { query }, { Accept: 'application/graphql-response+json' });
      const ask = (query: string) => secrets.map((secret) => post(secret, query));
      const sides = {
        rest: secrets.map((secret) => httpRequest('GET', `/v1/email/logs?limit=${PAGE}`, secret)),
        plain: ask(documents.plain),
        nested: ask(documents.nested),
      };
      const rates: Record<keyof typeof sides, number[]> = { rest: [], plain: [], nested: [] };
      for (let round = 0; round <= rounds; round++) {
        for (const side of ['rest', 'plain', 'nested'] as const) {
          await product.sql`delete from query_budgets`;
          const result = await runLoad({
            port: running.port,
            connections: CONNECTIONS,
            seconds,
            requests: sides[side],
          });
          requireOnly(200, result, side);
          if (round > 0) rates[side].push(result.rate);
        }
      }
      const shown = (side: keyof typeof sides) => `${rates[side].map((rate) => rate.toFixed(0)).join(', ')} /s`;
      const lines: Line[] = [
        { id: 'G1', what: `REST, ${PAGE} messages`, value: shown('rest'), ratio: null, goal: null },
        {
          id: 'G1',
          what: 'GraphQL, the same fields of the same messages ÷ REST',
          value: shown('plain'),
          ratio: medianRatio(rates.plain, rates.rest),
          goal: null,
        },
        {
          id: 'G1',
          what: 'GraphQL, the same messages with timeline(first: 10) ÷ REST',
          value: shown('nested'),
          ratio: medianRatio(rates.nested, rates.rest),
          goal: { at_least: 0.7 },
        },
      ];
      for (const [what, document] of hostile) {
        await product.sql`delete from query_budgets`;
        const requests = Array.from({ length: 100 }, (_, index) => post(secrets[index] ?? '', document(index)));
        const result = await runLoad({ port: running.port, connections: 1, seconds, count: 100, requests });
        requireOnly(400, result, what);
        const value = `p50 ${result.p50_ms.toFixed(1)}  p99 ${result.p99_ms.toFixed(1)} ms`;
        lines.push({
          id: 'L1',
          what: `${what}, until it is refused; p99 ÷ 50 ms`,
          value,
          ratio: result.p99_ms / 50,
          goal: { at_most: 1 },
        });
      }
      printLines(`GraphQL beside REST, ${CONNECTIONS} connections, median of ${median([rounds])} rounds`, lines);
    } finally {
      await running.stop();
      await product.stop();
    }
  } finally {
    await server.stop();
  }
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

/** A figure counts only if every answer was the right one. */
function requireOnly(wanted: number, { statuses }: LoadResult, what: string): void {
  const others = [...statuses.keys()].filter((status) => status !== wanted);
  if (others.length > 0) throw new Error(`${what} was answered with ${others.join(', ')}`);
}
