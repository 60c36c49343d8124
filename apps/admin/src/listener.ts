import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Metrics, Services } from '@postrider/core';
import { createQueryRefunds } from '@postrider/core/usage';
import { createApp } from './app.ts';
import type { GraphqlApi } from './graphql/graphql-api.ts';
import type { DashboardSource } from './pages/dashboard/dashboard-routes.ts';

const withoutDashboard: DashboardSource = () => ({ kind: 'failed', why: 'This process does not serve the dashboard.' });

/** Returns the admin routes as a listener for the process's HTTP server. */
export function createHandler(
  services: Services,
  dashboard: DashboardSource = withoutDashboard,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const refunds = createQueryRefunds(services.sql, services.log);
  let graphql: Promise<GraphqlApi> | undefined;
  // Loaded by the first request, because many instances get none and the schema takes 45 MB and a fifth of a start.
  const loadGraphql = () => {
    graphql ??= import('./graphql/graphql-api.ts').then(({ createGraphqlApi }) => createGraphqlApi(services, refunds));
    return graphql;
  };
  const listener = getRequestListener(createApp(services, loadGraphql, dashboard).fetch);
  return async (request, response) => {
    const started_at = performance.now();
    const is_known = isGraphql(request) && (await (await loadGraphql()).answerKnown(request, response));
    if (!is_known) await listener(request, response);
    note(services.metrics, request, response, (performance.now() - started_at) / 1000);
  };
}

function isGraphql({ url = '' }: IncomingMessage): boolean {
  return url === '/graphql' || url.startsWith('/graphql?');
}

const routes = ['graphql', 'trpc', 'login', 'logout', 'errors', 'graphiql'] as const;
const methods = ['GET', 'POST', 'HEAD', 'OPTIONS'];
const TOO_MANY = 429;

/** Counts a request under the first segment of its path after the workspace. The duration of a stream is not recorded as latency. */
function note(metrics: Metrics, { url = '', method = '' }: IncomingMessage, response: ServerResponse, seconds: number) {
  const first = /^(?:\/w\/[^/?]*)?\/([a-z]*)/.exec(url)?.[1] ?? '';
  const known = routes.find((route) => route === first);
  const api = known === 'graphql' || known === 'trpc' ? known : 'dashboard';
  const route = known === undefined ? (url === '/' ? '/' : 'none') : `/${known}`;
  const { statusCode } = response;
  metrics.count('http_requests_total', [api, route, methods.includes(method) ? method : 'other', String(statusCode)]);
  if (!String(response.getHeader('content-type') ?? '').startsWith('text/event-stream'))
    metrics.observe('http_request_seconds', [api, route], seconds);
  if (statusCode === TOO_MANY) metrics.count('rate_limited_total', [rate_reasons[api]]);
}

const rate_reasons = { graphql: 'graphql_cost', trpc: 'session_rate', dashboard: 'login_rate' } as const;
