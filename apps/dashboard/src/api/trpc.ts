import type { AppRouter } from '@postrider/admin/router';
import { MutationCache, QueryClient } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { noteServerTime } from './clock.ts';
import { problemOf } from './problem.ts';
import { noteRelease } from './release.ts';
import { sessionLink } from './session-link.ts';
import { inWorkspace } from './workspace.ts';

export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** The server rejects larger batches. */
const MAX_BATCH_SIZE = 10;

/** The delay before a query is retried after a transient failure. */
export const RETRY_DELAY_MS = 5000;

export const client = createTRPCClient<AppRouter>({
  links: [
    sessionLink,
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url: () => inWorkspace('/trpc') }),
      false: httpBatchLink({
        url: '/trpc',
        maxItems: MAX_BATCH_SIZE,
        headers: { 'x-postrider': '1' },
        async fetch(url, init) {
          const response = await fetch(inWorkspace(String(url)), init as RequestInit);
          noteRelease(response.headers.get('x-dashboard-release'));
          noteServerTime(response.headers.get('date'));
          return response;
        },
      }),
    }),
  ],
});

export const queries = new QueryClient({
  mutationCache: new MutationCache({ onSuccess: refetchShown }),

  defaultOptions: {
    queries: {
      staleTime: 5000,
      // A rejected request would be rejected again, so only server and network errors are retried.
      retry: (count, error) => count < 2 && problemOf(error).passing,
      retryDelay: (count) => 1000 * 2 ** count,
      // For queries that are not already polled, so that a page recovers automatically from a failed request.
      refetchInterval: ({ state }) => (state.error !== null && problemOf(state.error).passing ? RETRY_DELAY_MS : false),
    },
    mutations: { retry: false },
  },
});

/** Refetches everything on the page after the user's own change, except for data that is read only once. */
export function refetchShown(): void {
  void queries.invalidateQueries();
}

export const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient: queries });
