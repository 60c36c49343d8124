import { AppError, createContext, type Reason, type Services } from '@postrider/core';
import { requireAdmittedSince } from '@postrider/core/people';
import type { QueryRefunds } from '@postrider/core/usage';
import type { Context } from 'hono';
import { z } from 'zod';
import type { AdminEnv } from '../../admin-env.ts';
import { CostMeter } from '../cost/cost-meter.ts';
import { createGraphqlContext } from '../kit/request-context.ts';
import type { KnownQueries } from '../known/known-queries.ts';
import { createFollow } from '../streams.ts';
import { admitKey, rateHeaders, refusalHeaders } from './admit-key.ts';
import { jsonRequest } from './json-request.ts';
import { refuse } from './refuse.ts';
import { createGraphqlServer } from './server.ts';
import { tooSlow, within } from './within.ts';

/** Creates the handler of /graphql. The key is authenticated before the document is parsed. */
export function createReply(
  services: Services,
  refunds: QueryRefunds,
  known: KnownQueries,
): (context: Context<AdminEnv>) => Promise<Response> {
  const server = createGraphqlServer(services, refunds, known);
  return async (context) => {
    const { request_id, address, trace } = context.var;
    const admitted = await admitKey(services, context.req.header('authorization'), address, 1);
    if ('error' in admitted) {
      const { error, window } = admitted;
      return refuse(error, request_id, refusalHeaders(error, window, services.clock.now()));
    }
    const { actor, charged, credential } = admitted;
    const ctx = { ...createContext(services, actor, { request_id, via: 'graphql', address, trace }), actor };
    const cost = new CostMeter(charged);
    const checked_at = performance.now();
    const parsed_request = await jsonRequest(context.req.raw);
    const failure = await requireAdmittedSince(ctx, checked_at).catch((error: unknown) => error);
    if (failure instanceof AppError) return refuse(failure, request_id, {});
    if (failure) throw failure;
    const graphql_response =
      parsed_request instanceof AppError
        ? refuse(parsed_request, request_id, {})
        : await within(
            server.fetch(parsed_request, createGraphqlContext(ctx, cost, createFollow(services, credential))),
          );
    if (!graphql_response) return refuse(tooSlow(), request_id, {});
    const response =
      parsed_request instanceof AppError || cost.answered || !isRefusal(graphql_response)
        ? graphql_response
        : await normalizeResponse(graphql_response, request_id);
    const { limit, reset_unix } = cost.charged.window;
    for (const [name, value] of Object.entries(rateHeaders({ limit, remaining: cost.remaining, reset_unix })))
      response.headers.set(name, value);
    return response;
  };
}

/**
 * Returns whether a response was produced without executing a document. For clients that accept plain JSON, the server
 * responds with 200 even if the request has no query.
 */
function isRefusal({ status, headers }: Response): boolean {
  return status >= 400 || /^application\/(?:json|graphql-response\+json)\b/.test(headers.get('content-type') ?? '');
}

/** Adds our reason to an error from the GraphQL server itself, keeping its message. */
async function normalizeResponse(response: Response, request_id: string): Promise<Response> {
  const body = server_response.safeParse(await response.json().catch(() => null));
  const message = body.data?.errors[0]?.message ?? USAGE_HINT;
  const headers: Record<string, string> = {};
  const allow = response.headers.get('allow');
  if (allow) headers.allow = allow;
  const [reason, own] = transportErrors[response.status] ?? ['malformed_request', message];
  const status = response.status === 405 || response.status === 406 ? response.status : undefined;
  return refuse(new AppError(reason, own), request_id, headers, status);
}

const server_response = z.object({ errors: z.array(z.object({ message: z.string() })) });
const USAGE_HINT = 'Send a GraphQL request: POST {"query": …} as application/json, or GET ?query=….';

const transportErrors: Readonly<Record<number, readonly [Reason, string]>> = {
  405: ['malformed_request', 'Send a GraphQL request by POST, or by GET if it only reads.'],
  406: [
    'malformed_request',
    'Send Accept: text/event-stream for a subscription, and application/graphql-response+json or application/json for anything else.',
  ],
  413: ['body_too_large', 'The body is larger than 100 kB. Send a smaller document or fewer variables.'],
  415: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
};
