import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, createContext, newId, type Services } from '@postrider/core';
import { type QueryRefunds, spenderOf } from '@postrider/core/usage';
import { createClientAddress } from '@postrider/net';
import { execute } from 'graphql';
import { z } from 'zod';
import { PAGE_POLICY } from '../../pages/page-policy.ts';
import { CostMeter } from '../cost/cost-meter.ts';
import { costExtension, pointsOf } from '../cost/limits.ts';
import { costOf, type QueryCost } from '../cost/query-cost.ts';
import { type Admission, admitKey, rateHeaders, refusalHeaders } from '../http/admit-key.ts';
import { refusalOf } from '../http/refuse.ts';
import { namedErrors, publicError } from '../http/server.ts';
import { tooSlow, within } from '../http/within.ts';
import { createGraphqlContext, type GraphqlContext } from '../kit/request-context.ts';
import { createFollow } from '../streams.ts';
import type { KnownQueries } from './known-queries.ts';
import { type Plan, runPlan } from './plan.ts';

// The largest body that is read before authentication. The GraphQL server reads larger bodies after authentication.
const MAX_BODY_LENGTH = 16 * 1024;
const mediaTypes = new Set(['application/graphql-response+json', 'application/json']);

const bodySchema = z.strictObject({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

interface KnownQuery {
  readonly plan: Plan;
  readonly cost: QueryCost;
  readonly points: number;
  readonly variables: Record<string, unknown>;
}

interface CachedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Creates the fast path on node:http for queries that the GraphQL server has already validated. For everything else,
 * including malformed requests, it returns false without responding.
 */
export function createKnownAnswers(
  services: Services,
  refunds: QueryRefunds,
  known: KnownQueries,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  const costs = new WeakMap<Plan, QueryCost | null>();

  return async (request, response) => {
    const media_type = request.headers.accept ?? '';
    if (!isPlain(request) || !mediaTypes.has(media_type)) return false;
    const body = await readWhole(request);
    if (!body) return true;
    const known_query = read(body);
    if (!known_query) {
      // The adapter reads the buffered body from here.
      Object.assign(request, { rawBody: body });
      return false;
    }
    const request_id = newId('request', services.clock.now());
    const known_answer = await http_response(known_query, request, request_id).catch((error: unknown) => {
      services.log.error({ err: error, request_id }, 'failed to run a GraphQL query');
      return refusalOf(new AppError('unexpected', 'The request failed. Retry.'), request_id, {});
    });
    response.writeHead(known_answer.status, {
      'content-type': `${media_type}; charset=utf-8`,
      ...known_answer.headers,
      'content-length': Buffer.byteLength(known_answer.body),
      'x-request-id': request_id,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': PAGE_POLICY,
    });
    response.end(known_answer.body);
    return true;
  };

  function read(body: Buffer): KnownQuery | null {
    const parsed = bodySchema.safeParse(jsonOf(body));
    const plan = parsed.success ? known.find(parsed.data.query) : null;
    if (!plan || !parsed.success) return null;
    const { operationName = null, variables } = parsed.data;
    if (operationName !== null && operationName !== plan.name) return null;
    const cost = costAt(plan, variables ?? {});
    const points = cost && pointsOf(cost);
    return typeof points === 'number' && cost ? { plan, cost, points, variables: variables ?? {} } : null;
  }

  /** Returns null if the cost cannot be computed, in which case the GraphQL server rejects the request. */
  function costAt(plan: Plan, variables: Record<string, unknown>): QueryCost | null {
    const before = plan.takes_variables ? undefined : costs.get(plan);
    if (before !== undefined) return before;
    // A complexity may read the clock, but there is no other context because the caller is not authenticated yet.
    const query_cost = costOf(plan.schema, plan.document, plan.name, variables, { ctx: services });
    const cost = 'errors' in query_cost ? null : query_cost;
    if (!plan.takes_variables) costs.set(plan, cost);
    return cost;
  }

  async function http_response(
    query: KnownQuery,
    request: IncomingMessage,
    request_id: string,
  ): Promise<CachedResponse> {
    const address = clientAddress(request.socket, request.headers['x-forwarded-for']);
    const admitted = await admitKey(services, request.headers.authorization, address, query.points);
    if ('error' in admitted) {
      const { error, window } = admitted;
      return refusalOf(error, request_id, refusalHeaders(error, window, services.clock.now()));
    }
    const ctx = {
      ...createContext(services, admitted.actor, { request_id, via: 'graphql', address }),
      actor: admitted.actor,
    };
    services.metrics.observe('graphql_cost_points', ['query'], query.points);
    const meter = meterOf(query, admitted);
    const g = createGraphqlContext(ctx, meter, createFollow(services, admitted.credential));
    const reply = await within(run(query, admitted, g));
    if (!reply) return refusalOf(tooSlow(), request_id, {});
    const { cost, ...result } = reply;
    refunds.give(spenderOf(admitted.actor), cost.spared);
    const { limit, reset_unix } = cost.charged.window;
    return {
      status: 200,
      headers: rateHeaders({ limit, remaining: cost.remaining, reset_unix }),
      body: JSON.stringify({ ...result, extensions: { cost: costExtension(cost) } }),
    };
  }

  async function run(query: KnownQuery, admitted: Admission, g: GraphqlContext) {
    const { plan, variables } = query;
    try {
      return { data: await runPlan(plan, g, variables), cost: g.cost };
    } catch {
      // A response that was too large would be too large again.
      const { excess } = g.cost;
      if (excess)
        return { errors: namedErrors(services.log, [publicError(excess)], g.ctx.request_id), data: null, cost: g.cost };
      // Full execution reports what failed and where. The loaders' caches are kept. Resolvers that the plan already
      // started still count against the plan's meter.
      const cost = meterOf(query, admitted);
      const state = { ...g, cost };
      const { document, schema } = plan;
      const result = await execute({ schema, document, contextValue: state, variableValues: variables });
      if (!result.errors) return { data: result.data ?? null, cost };
      const failed = cost.excess ? [publicError(cost.excess)] : result.errors.map(publicError);
      const errors = namedErrors(services.log, failed, g.ctx.request_id);
      return { errors, data: cost.excess ? null : (result.data ?? null), cost };
    }
  }
}

function meterOf({ points, cost }: KnownQuery, { charged }: Admission): CostMeter {
  const meter = new CostMeter(charged);
  meter.requested = points;
  meter.begin(cost);
  return meter;
}

/** Returns whether the request is a small JSON POST to /graphql. */
function isPlain({ method, url, headers }: IncomingMessage): boolean {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return (
    url === '/graphql' &&
    method === 'POST' &&
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    length > 0 &&
    length <= MAX_BODY_LENGTH
  );
}

/** Reads the whole body. Returns null if the client disconnects. */
function readWhole(request: IncomingMessage): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  request.once('close', () => resolve(null));
  request.once('error', () => resolve(null));
  return promise;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
