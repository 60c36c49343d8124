import { AppError, createContext, type Services } from '@postrider/core';
import { hasScope, identify, readCredential, refuseAddress } from '@postrider/core/api-keys';
import { type Context, Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';
import { createCostMeter } from './cost.ts';
import { refuse } from './refuse.ts';
import { createGraphqlContext } from './request-context.ts';
import { createGraphqlServer } from './server.ts';

/** /graphql: who asks is settled before the document is read. */
export function graphqlRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  const server = createGraphqlServer(services);
  const answer = async (context: Context<AdminEnv>): Promise<Response> => {
    const { request_id, address } = context.var;
    const credential = readCredential(context.req.header('authorization'), address);
    const known =
      credential instanceof AppError
        ? await refuseAddress(services, address, credential)
        : await identify(services, credential);
    if ('error' in known) return refuse(known.error, request_id, rateHeaders(known.window));
    const { actor } = known;
    if (!hasScope(actor.scopes, 'admin') && !hasScope(actor.scopes, 'operator')) {
      const message = 'GraphQL needs the scope admin or operator; use a key that has it.';
      return refuse(new AppError('missing_scope', message, { required_scope: 'admin' }), request_id, {});
    }
    const ctx = { ...createContext(services, actor, { request_id, face: 'graphql', address }), actor };
    return server.fetch(context.req.raw, createGraphqlContext(ctx, createCostMeter()));
  };
  routes.all('/', answer);
  return routes;
}

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
