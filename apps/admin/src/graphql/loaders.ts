import { AppError, type Context, invoke, type List, type Operation } from '@postrider/core';
import { readKeys } from '@postrider/core/api-keys';
import { readAuditEntries, readMakers } from '@postrider/core/audit';
import { readBulkFailures, readBulks } from '@postrider/core/bulk';
import { readDomains, readDomainsByName } from '@postrider/core/domains';
import { readEvents, readLastEvents, readTimelines } from '@postrider/core/events';
import { readFailureGroups } from '@postrider/core/failures';
import { listHolds, readHolds } from '@postrider/core/holds';
import {
  getContent,
  readAttempts,
  readAttemptsById,
  readLastAttempts,
  readMessages,
  readPlaces,
  readRecipients,
} from '@postrider/core/messages';
import { listQueues, listWorkers, readJobs, readJobsOfMessages } from '@postrider/core/queues';
import { readSuppressions, readSuppressionsByEmail } from '@postrider/core/suppressions';
import { type MonthUsage, readMonthUsages } from '@postrider/core/usage';
import {
  readDeliveriesOfEvents,
  readDeliveryBodies,
  readWebhookDeliveries,
  readWebhooks,
} from '@postrider/core/webhooks';
import { readWorkspaces } from '@postrider/core/workspaces';
import DataLoader from 'dataloader';
import type { z } from 'zod';
import type { PageArgs } from './connections.ts';

// What a batch of the core takes at most.
const MOST_IDS = 1000;
const MOST_LOOKED_FOR = 100;

export interface IdLoader<T> {
  load(id: string): Promise<T>;
  loadMany(ids: readonly string[]): Promise<T[]>;
  /** What has been read on the way is not read again. */
  prime(id: string, value: T): void;
}

/** Collects ids until the resolvers of one level have run, and asks for all of them at once. */
export function byIds<T>(ctx: Context, operation: Operation<z.ZodType, readonly T[]>, most = MOST_IDS): IdLoader<T> {
  const loader = new DataLoader<string, T>((ids) => invoke(ctx, operation, { ids }), { maxBatchSize: most });
  const load = (id: string) => loader.load(id);
  return { load, loadMany: (ids) => Promise.all(ids.map(load)), prime: (id, value) => void loader.prime(id, value) };
}

export interface PageLoader<T> {
  /** The page of a list that belongs to an owner. */
  load(id: string, args: PageArgs): Promise<List<T>>;
}

/** Collects the pages that the nodes of one level ask for, and reads all that are of one size at once. */
export function pagesBy<T>(ctx: Context, operation: Operation<z.ZodType, readonly List<T>[]>): PageLoader<T> {
  const bySize = new Map<number | null | undefined, DataLoader<{ id: string; cursor?: string }, List<T>, string>>();
  const loaderOf = (limit: number | null | undefined) => {
    const known = bySize.get(limit);
    if (known) return known;
    const loader = new DataLoader<{ id: string; cursor?: string }, List<T>, string>(
      (of) => invoke(ctx, operation, { limit: limit ?? undefined, of }),
      { maxBatchSize: MOST_IDS, cacheKeyFn: ({ id, cursor }) => `${id} ${cursor ?? ''}` },
    );
    bySize.set(limit, loader);
    return loader;
  };
  return { load: (id, { first, after }) => loaderOf(first).load(after == null ? { id } : { id, cursor: after }) };
}

/** A month of workspaces, for each month that is asked about. */
function usageLoaders(ctx: Context): (month: string | null) => Pick<DataLoader<string, MonthUsage>, 'load'> {
  const byMonth = new Map<string | null, DataLoader<string, MonthUsage>>();
  return (month) => {
    const known = byMonth.get(month);
    if (known) return known;
    const input = month === null ? {} : { month };
    const loader = new DataLoader<string, MonthUsage>((ids) => invoke(ctx, readMonthUsages, { ids, ...input }), {
      maxBatchSize: MOST_IDS,
    });
    byMonth.set(month, loader);
    return loader;
  };
}

/** The batched reads of one request; what is loaded once is remembered for it. */
export function createLoaders(ctx: Context) {
  return {
    messages: byIds(ctx, readMessages),
    places: byIds(ctx, readPlaces, MOST_LOOKED_FOR),
    messagesOfRecipients: byIds(ctx, readRecipients, MOST_LOOKED_FOR),
    attempts: pagesBy(ctx, readAttempts),
    lastAttempts: byIds(ctx, readLastAttempts),
    // One by one: each may be megabytes, and each reading is noted in the audit log.
    contents: new DataLoader((ids: readonly string[]) => inTurn(ids, (id) => contentOrNull(ctx, id))),
    events: byIds(ctx, readEvents),
    lastEvents: byIds(ctx, readLastEvents),
    timelines: pagesBy(ctx, readTimelines),
    domains: byIds(ctx, readDomains),
    domainsByName: byIds(ctx, readDomainsByName),
    holds: byIds(ctx, readHolds),
    attemptsById: byIds(ctx, readAttemptsById, MOST_LOOKED_FOR),
    failureGroups: byIds(ctx, readFailureGroups),
    keys: byIds(ctx, readKeys),
    suppressions: byIds(ctx, readSuppressions),
    suppressionsByEmail: byIds(ctx, readSuppressionsByEmail),
    bulks: byIds(ctx, readBulks),
    bulkFailures: byIds(ctx, readBulkFailures),
    webhooks: byIds(ctx, readWebhooks),
    webhookDeliveries: byIds(ctx, readWebhookDeliveries),
    deliveriesOfEvents: byIds(ctx, readDeliveriesOfEvents),
    deliveryBodies: byIds(ctx, readDeliveryBodies, MOST_LOOKED_FOR),
    jobs: byIds(ctx, readJobs),
    jobsOfMessages: byIds(ctx, readJobsOfMessages),
    // There are few of these: all of them are read at once, whoever asks for one.
    queues: once(async () => (await invoke(ctx, listQueues, {})).data),
    workers: once(async () => (await invoke(ctx, listWorkers, {})).data),
    heldQueues: once(async () => {
      const { data } = await invoke(ctx, listHolds, { limit: 100 });
      return new Map(data.flatMap((hold) => (hold.scope === 'queue' ? [[hold.value, hold]] : [])));
    }),
    workspaces: byIds(ctx, readWorkspaces),
    auditEntries: byIds(ctx, readAuditEntries),
    makers: byIds(ctx, readMakers),
    usageOf: usageLoaders(ctx),
  };
}
export type Loaders = ReturnType<typeof createLoaders>;

// A request is answered in less time, and a stream lasts longer.
const FRESH_MS = 1000;

/** What is read once in a request, and for a stream again. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  let read_at = 0;
  return () => {
    if (!found || performance.now() - read_at > FRESH_MS) {
      read_at = performance.now();
      found = read();
    }
    return found;
  };
}

async function inTurn<T>(ids: readonly string[], read: (id: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const id of ids) found.push(await read(id));
  return found;
}

/** The log outlives what messages say. */
async function contentOrNull(ctx: Context, id: string) {
  try {
    return await invoke(ctx, getContent, { id });
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
