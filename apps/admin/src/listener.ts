import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Services } from '@postrider/core';
import { createQueryRefunds } from '@postrider/core/usage';
import { createApp } from './app.ts';
import { createKnownAnswers } from './graphql/known/answer-known.ts';
import { KnownQueries } from './graphql/known/known-queries.ts';
import type { DashboardSource } from './pages/dashboard/dashboard-routes.ts';

const withoutDashboard: DashboardSource = () => ({ kind: 'failed', why: 'This process serves no dashboard.' });

/** The admin routes as a listener for the process's one HTTP server. */
export function createHandler(
  services: Services,
  dashboard: DashboardSource = withoutDashboard,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const refunds = createQueryRefunds(services.sql, services.log);
  const known = new KnownQueries();
  const answerKnown = createKnownAnswers(services, refunds, known);
  const listener = getRequestListener(createApp(services, refunds, known, dashboard).fetch);
  return async (request, response) => {
    if (!(await answerKnown(request, response))) await listener(request, response);
  };
}
