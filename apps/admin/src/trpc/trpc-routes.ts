import {
  AppError,
  DEFAULT_BODY_BYTES,
  httpStatus,
  retryAfterHeader,
  retryAfterSeconds,
  type Services,
} from '@postrider/core';
import { countCalls } from '@postrider/core/usage';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import type { AdminEnv } from '../admin-env.ts';
import { crossSiteRefusal } from '../session/own-origin.ts';
import { sessionOf } from '../session/session.ts';
import { errorData, publicError, trpcCode } from './kit/errors.ts';
import type { Caller } from './kit/invoke-procedure.ts';
import { RateNotes } from './kit/rate-headers.ts';
import { appRouter } from './router.ts';

const MAX_BATCH_SIZE = 10;

const gzip = compress({ encoding: 'gzip', contentTypeFilter: isWhole });

/** Serves tRPC to the dashboard. Requires a session cookie and JSON. */
export function trpcRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(compressQueries, measureQueries);
  routes.use(async (context, next) => {
    const refusal = crossSiteRefusal(services, context) ?? formRefusal(context);
    return refusal ? refuse(services, context, refusal) : next();
  });
  routes.use(
    bodyLimit({
      maxSize: DEFAULT_BODY_BYTES,
      onError: (context: Context<AdminEnv>) =>
        refuse(services, context, new AppError('body_too_large', 'The input is larger than 100 kB. Send less data.')),
    }),
  );
  routes.all('*', async (context) => {
    const { request_id, address, trace } = context.var;
    const started_at = performance.now();
    const actor = await sessionOf(services, context).catch((error: unknown) => {
      if (error instanceof AppError) return error;
      throw error;
    });
    if (actor instanceof AppError) return refuse(services, context, actor);
    const checked_at = performance.now();
    const rate = new RateNotes();
    if (actor) {
      const { window, refusal } = await countCalls(services, actor, callsOf(context));
      rate.note(window);
      if (refusal) return refuse(services, context, refusal, rate.headers());
    }
    context.res = await fetchRequestHandler({
      endpoint: context.req.path.slice(0, context.req.path.indexOf('/trpc') + '/trpc'.length),
      req: context.req.raw,
      router: appRouter,
      maxBatchSize: MAX_BATCH_SIZE,
      createContext: (): Caller => ({
        services,
        actor,
        checked_at,
        request_id,
        address,
        trace,
        rate,
      }),
      responseMeta: ({ errors }) => ({
        headers: { ...rate.headers(), ...retryAfterAll(errors.map(publicError), services.clock.now()) },
      }),
      onError({ error, path, type, input }) {
        const refusal = publicError(error);
        services.request_log.note({
          id: request_id,
          api: 'trpc',
          method: type === 'mutation' ? 'POST' : 'GET',
          path: path ?? '',
          status: httpStatus[refusal.code],
          error: refusal,
          actor,
          secret_hash: null,
          address,
          input,
          duration_ms: performance.now() - started_at,
        });
        if (publicError(error).code === 'internal_error')
          services.log.error({ err: error.cause ?? error, request_id, path }, 'a tRPC procedure failed');
      },
    });
    return context.res;
  });
  return routes;
}

/**
 * Compresses the responses of queries. Mutations return secrets beside text that a stranger may have chosen, and the
 * length of a compressed response would tell how much the two have in common.
 */
const compressQueries: MiddlewareHandler<AdminEnv> = (context, next) =>
  context.req.method === 'GET' ? gzip(context, next) : next();

/** Sets the length of a query's response, without which the middleware compresses even the smallest. */
const measureQueries: MiddlewareHandler<AdminEnv> = async (context, next) => {
  await next();
  const { headers } = context.res;
  if (context.req.method !== 'GET' || headers.has('transfer-encoding') || !isWhole(headers.get('content-type') ?? ''))
    return;
  const body = await context.res.arrayBuffer();
  context.res = new Response(body, context.res);
  context.res.headers.set('content-length', String(body.byteLength));
};

/** Returns whether a response of this type is sent in one piece. Event streams are not. */
function isWhole(content_type: string): boolean {
  return /^application\/json(?:;|$)/i.test(content_type);
}

/**
 * Returns an error for a mutation that another site's form could send. A form cannot set a custom header or a JSON
 * content type.
 */
function formRefusal(context: Context<AdminEnv>): AppError | null {
  if (context.req.method === 'GET') return null;
  if (context.req.header('x-postrider') !== '1')
    return new AppError('cross_site_request', 'Send the header x-postrider: 1 with every mutation.');
  if (/^application\/json(?:;|$)/i.test(context.req.header('content-type') ?? '')) return null;
  return new AppError('unsupported_media_type', 'Send the input as application/json.');
}

/** Counts the procedures that a request calls. A batch separates them with commas. */
function callsOf(context: Context<AdminEnv>): number {
  return context.req.path.split(/,|%2c/i).length;
}

/** Returns an error for the whole request in tRPC's error format. */
function refuse(
  services: Services,
  context: Context<AdminEnv>,
  error: AppError,
  headers: Record<string, string> = {},
): Response {
  const { request_id } = context.var;
  const data = errorData(error, { request_id, public_url: services.public_url });
  const code = TRPC_ERROR_CODES_BY_KEY[trpcCode[error.code]];
  const all = { ...headers, ...retryAfterHeader(error, services.clock.now()) };
  return context.json({ error: { code, message: error.message, data } }, httpStatus[error.code], all);
}

/** Returns the Retry-After of a batch: the time by which all exceeded limits have reset. */
function retryAfterAll(errors: readonly AppError[], now_ms: number): Record<string, string> {
  const limited = errors.filter(({ code }) => code === 'rate_limited');
  const [last] = limited.toSorted((left, right) => retryAfterSeconds(right, now_ms) - retryAfterSeconds(left, now_ms));
  return last ? retryAfterHeader(last, now_ms) : {};
}
