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

/** Polls the queries that need it. Everything else is refetched when the live stream reports a change. */
export function startPolling(): void {
  // Neither claiming an email nor the progress of an attempt emits an event.
  poll(trpc.emails.get, 3000, ({ status }) => !isOpen(status));
  // Waiting email ages continuously, and its counts are updated periodically.
  poll(trpc.overview.summary, 15_000);
  poll(trpc.ops.backlog, 5000);
  // Statistics are rolled up once a minute.
  poll(trpc.stats.get, 60_000);
  poll(trpc.stats.series, 60_000);
  poll(trpc.ops.failureGroups, 15_000);
  // Captures of other programs' messages emit no events.
  poll(trpc.captures.list, 5000);
  // Using a key does not emit an event.
  poll(trpc.apiKeys.list, 15_000);
  // Neither a relay's requests nor its reports emit an event.
  poll(trpc.transports.feedback, 4000);
  // Rejected requests and webhook deliveries are too numerous for the stream.
  poll(trpc.requests.list, 5000);
  poll(trpc.requests.groups, 15_000);
  poll(trpc.deliveries.list, 4000);
  poll(trpc.deliveries.listAll, 4000);
  poll(trpc.deliveries.get, 4000);
  poll(trpc.webhooks.list, 10_000);
  poll(trpc.webhooks.get, 4000);
  poll(trpc.webhooks.quality, 30_000);
  // A check that does not change a domain's state emits no event, and a lookup of its records is not even stored.
  queries.setQueryDefaults(trpc.domains.examine.mutationKey(), { refetchInterval: 10_000 });
  poll(trpc.domains.get, 10_000);
  poll(trpc.domains.list, 10_000);
  // Jobs, workers, and disks are measured and emit no events.
  poll(trpc.ops.queues, 3000);
  poll(trpc.ops.queue, 5000);
  poll(trpc.ops.history, 30_000);
  poll(trpc.ops.jobs.list, 5000);
  poll(trpc.ops.schedules.list, 10_000);
  poll(trpc.ops.workers, 5000);
  poll(trpc.ops.storage, 60_000);
  poll(trpc.ops.health, 15_000);
  // Alarms start and end, and the counts of email affected by a hold change, without an event.
  poll(trpc.alarms.list, 10_000);
  poll(trpc.alarms.rules, 10_000);
  poll(trpc.holds.list, 5000);
  // Progress of background work. Its completion is reported by an event.
  poll(trpc.ops.bulkGet, 1500, ({ status }) => status === 'completed' || status === 'canceled');
  poll(trpc.ops.bulkList, 3000);
  poll(trpc.ops.bulkItems, 3000);
  poll(trpc.erasures.get, 1500, ({ status }) => status === 'completed');
  poll(trpc.erasures.list, 4000);
}

/** Loads a query once and then keeps its data while a page is frozen. */
export function unlessFrozen(frozen: boolean) {
  return {
    enabled: ({ state }: { readonly state: { readonly data: unknown } }) => !frozen || state.data === undefined,
  };
}
