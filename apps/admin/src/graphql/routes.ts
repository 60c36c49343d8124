import { AppError, createContext, type Reason, type Services } from '@postrider/core';
import { hasScope, identify, readCredential, refuseAddress } from '@postrider/core/api-keys';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { AdminEnv } from '../admin-env.ts';
import { CostMeter } from './cost.ts';
import { refuse } from './refuse.ts';
import { createGraphqlContext } from './request-context.ts';
import { createGraphqlServer } from './server.ts';
import { createFollow } from './streams.ts';

const LONGEST_MS = 15_000;

/** /graphql: who asks is settled before the document is read. */
export function graphqlRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  const server = createGraphqlServer(services);
  const answer = async (context: Context<AdminEnv>): Promise<Response> => {
    const { request_id, address } = context.var;
    const credential = readCredential(context.req.header('authorization'), address);
    if (credential instanceof AppError) {
      const refused = await refuseAddress(services, address, credential);
      return refuse(refused.error, request_id, rateHeaders(refused.window));
    }
    const known = await identify(services, credential);
    if ('error' in known) return refuse(known.error, request_id, rateHeaders(known.window));
    const { actor } = known;
    if (!hasScope(actor.scopes, 'admin') && !hasScope(actor.scopes, 'operator')) {
      const message = 'GraphQL needs the scope admin or operator; use a key that has it.';
      return refuse(new AppError('missing_scope', message, { required_scope: 'admin' }), request_id, {});
    }
    const ctx = { ...createContext(services, actor, { request_id, face: 'graphql', address }), actor };
    const cost = new CostMeter(known.charged);
    const answered = await within(
      server.fetch(context.req.raw, createGraphqlContext(ctx, cost, createFollow(services, credential))),
    );
    if (!answered) return refuse(tooSlow(), request_id, {});
    const told = cost.answered || answered.status < 400 ? answered : await inOurShape(answered, request_id);
    const { limit, reset_unix } = cost.charged.window;
    for (const [name, value] of Object.entries(rateHeaders({ limit, remaining: cost.remaining, reset_unix })))
      told.headers.set(name, value);
    return told;
  };
  routes.all('/', answer);
  return routes;
}

/** What does not come in time is not waited for; a stream has begun by then. */
async function within(work: Response | Promise<Response>): Promise<Response | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const patience = setTimeout(() => resolve(null), LONGEST_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(patience);
  }
}

function tooSlow(): AppError {
  return new AppError('unexpected', `The answer took longer than ${LONGEST_MS / 1000} s; ask for less at once.`);
}

/** What the server refuses before it looks at a document, with our reason. Its message, if there is one, says more. */
async function inOurShape(response: Response, request_id: string): Promise<Response> {
  const body = serverAnswer.safeParse(await response.json().catch(() => null));
  const message = body.data?.errors[0]?.message ?? HOW_TO_ASK;
  const headers: Record<string, string> = {};
  const allow = response.headers.get('allow');
  if (allow) headers.allow = allow;
  const [reason, ours] = transportErrors[response.status] ?? ['malformed_request', message];
  const status = response.status === 405 || response.status === 406 ? response.status : undefined;
  return refuse(new AppError(reason, ours), request_id, headers, status);
}

const serverAnswer = z.object({ errors: z.array(z.object({ message: z.string() })) });
const HOW_TO_ASK = 'Send a GraphQL request: POST {"query": …} as application/json, or GET ?query=….';

const transportErrors: Readonly<Record<number, readonly [Reason, string]>> = {
  405: ['malformed_request', 'Send a GraphQL request by POST, or by GET if it only reads.'],
  406: ['malformed_request', 'Accept application/graphql-response+json, application/json or text/event-stream.'],
  413: ['body_too_large', 'The body is larger than 100 kB; send a smaller document or fewer variables.'],
  415: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
};

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_unix: number;
}

function rateHeaders({ limit, remaining, reset_unix }: Window): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset_unix),
  };
}
