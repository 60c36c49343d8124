import type { AppRouter } from '@postrider/admin/router';
import { MutationCache, QueryClient } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { problemOf } from './problem.ts';
import { noteRelease } from './release.ts';
import { sessionLink } from './session-link.ts';

export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** The server refuses larger batches. */
const MAX_BATCH_SIZE = 10;

/** How long after a failure that may pass a query is tried again. */
export const AGAIN_MS = 5000;

export const client = createTRPCClient<AppRouter>({
  links: [
    sessionLink,
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url: '/trpc' }),
      false: httpBatchLink({
        url: '/trpc',
        maxItems: MAX_BATCH_SIZE,
        headers: { 'x-postrider': '1' },
        async fetch(url, init) {
          const answer = await fetch(url, init as RequestInit);
          noteRelease(answer.headers.get('x-dashboard-release'));
          return answer;
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
      // A refusal would be repeated; only server and network errors are retried.
      retry: (count, error) => count < 2 && problemOf(error).passing,
      retryDelay: (count) => 1000 * 2 ** count,
      // Where it does not poll anyway: a page that could not ask recovers by itself.
      refetchInterval: ({ state }) => (state.error !== null && problemOf(state.error).passing ? AGAIN_MS : false),
    },
    mutations: { retry: false },
  },
});

/** After a change of one's own, everything on the page is fetched again; what is read once stays. */
export function refetchShown(): void {
  void queries.invalidateQueries();
}

export const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient: queries });
