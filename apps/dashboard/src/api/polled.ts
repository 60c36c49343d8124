import type { Query, QueryKey } from '@tanstack/react-query';
import { isOpen } from '../parts/mail-status.tsx';
import { queries, trpc } from './trpc.ts';

interface PolledProcedure<T> {
  pathKey(): QueryKey;
  readonly '~types': { readonly output: T };
}

function poll<T>(query: PolledProcedure<T>, every_ms: number, until: (data: T) => boolean = () => false): void {
  const refetchInterval = ({ state }: Query) =>
    // The data of a query with this key is the output of its procedure.
    state.data !== undefined && until(state.data as T) ? false : every_ms;
  queries.setQueryDefaults(query.pathKey(), { refetchInterval });
}

/** All that is polled. Everything else is fetched again when the live stream tells of a change. */
export function startPolling(): void {
  // The claim of an email, and how far its attempt is, is no event.
  poll(trpc.emails.get, 3000, ({ status }) => !isOpen(status));
  // Waiting email grows older, and its counts are made once in a while.
  poll(trpc.overview.summary, 15_000);
  poll(trpc.ops.backlog, 5000);
  // Statistics are rolled up once a minute.
  poll(trpc.stats.get, 60_000);
  poll(trpc.stats.series, 60_000);
  poll(trpc.ops.failureGroups, 15_000);
  // Programs that use the SMTP capture leave no event.
  poll(trpc.captures.list, 5000);
  // The use of a key is no event.
  poll(trpc.apiKeys.list, 15_000);
  // Rejected requests and deliveries of webhooks are too many for the stream.
  poll(trpc.requests.list, 5000);
  poll(trpc.requests.groups, 15_000);
  poll(trpc.deliveries.list, 4000);
  poll(trpc.deliveries.listAll, 4000);
  poll(trpc.deliveries.get, 4000);
  poll(trpc.webhooks.list, 10_000);
  poll(trpc.webhooks.get, 4000);
  // A check that changes no state of a domain is no event; a look at its records is not even stored.
  queries.setQueryDefaults(trpc.domains.examine.mutationKey(), { refetchInterval: 10_000 });
  poll(trpc.domains.get, 10_000);
  poll(trpc.domains.list, 10_000);
  // Jobs, workers and disks are measured, not told.
  poll(trpc.ops.queues, 3000);
  poll(trpc.ops.queue, 5000);
  poll(trpc.ops.history, 30_000);
  poll(trpc.ops.jobs.list, 5000);
  poll(trpc.ops.schedules.list, 10_000);
  poll(trpc.ops.workers, 5000);
  poll(trpc.ops.storage, 60_000);
  poll(trpc.ops.health, 15_000);
  // Alerts begin and end automatically; so do the counts of what a hold affects.
  poll(trpc.alarms.list, 10_000);
  poll(trpc.holds.list, 5000);
  // Progress of what runs in the background; its end is told.
  poll(trpc.ops.bulkGet, 1500, ({ status }) => status === 'completed' || status === 'canceled');
  poll(trpc.ops.bulkList, 3000);
  poll(trpc.ops.bulkItems, 3000);
  poll(trpc.erasures.get, 1500, ({ status }) => status === 'completed');
  poll(trpc.erasures.list, 4000);
}

/** Lets a query load once and then keeps what it has, while a page is frozen. */
export function unlessFrozen(frozen: boolean) {
  return {
    enabled: ({ state }: { readonly state: { readonly data: unknown } }) => !frozen || state.data === undefined,
  };
}
