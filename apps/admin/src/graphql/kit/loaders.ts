import { AppError, type Context, invoke, type List, type Operation } from '@postrider/core';
import { readAlarms } from '@postrider/core/alarms';
import { readKeys, readKeyUsages } from '@postrider/core/api-keys';
import { readAuditEntries, readMakers } from '@postrider/core/audit';
import { readBulkFailures, readBulks } from '@postrider/core/bulk';
import { type CaptureDetail, getCapture } from '@postrider/core/captures';
import { readDomains, readDomainsByName } from '@postrider/core/domains';
import { readEvents, readLastEvents, readTimelines } from '@postrider/core/events';
import { readFailureGroups } from '@postrider/core/failures';
import { type HoldEntry, instanceQueues, listHolds, readHolds } from '@postrider/core/holds';
import {
  createContentLink,
  type EmailContent,
  getContent,
  readAttempts,
  readAttemptsById,
  readLastAttempts,
  readMessages,
  readPlaces,
  readRecipients,
} from '@postrider/core/messages';
import { listQueues, listWorkers, readJobs, readJobsOfMessages } from '@postrider/core/queues';
import type { KeyUsage } from '@postrider/core/stats';
import { readSuppressions, readSuppressionsByEmail } from '@postrider/core/suppressions';
import { type MonthUsage, readMonthUsages, readPlanUses } from '@postrider/core/usage';
import {
  readDeliveriesOfEvents,
  readDeliveryBodies,
  readWebhookDeliveries,
  readWebhookPosts,
  readWebhookQuality,
  readWebhooks,
} from '@postrider/core/webhooks';
import { readWorkspaces } from '@postrider/core/workspaces';
import DataLoader from 'dataloader';
import type { z } from 'zod';
import type { PageArgs } from './page-size.ts';
import { MAX_RESPONSE_BYTES, responseTooLarge } from './response-size.ts';

// Batch limits of core's readers.
const MAX_IDS = 1000;
const MAX_IDS_PER_LOOKUP = 100;

export interface IdLoader<T> {
  load(id: string): Promise<T>;
  loadMany(ids: readonly string[]): Promise<T[]>;
  /** Caches a value that another read returned. */
  prime(id: string, value: T): void;
}

/** Batches the IDs that resolvers of the same level request. */
export function byIds<T>(ctx: Context, operation: Operation<z.ZodType, readonly T[]>, max = MAX_IDS): IdLoader<T> {
  const loader = new DataLoader<string, T>((ids) => invoke(ctx, operation, { ids }), { maxBatchSize: max });
  const load = (id: string) => loader.load(id);
  return { load, loadMany: (ids) => Promise.all(ids.map(load)), prime: (id, value) => void loader.prime(id, value) };
}

export interface PageLoader<T> {
  /** Loads a page of one owner's list. */
  load(id: string, args: PageArgs): Promise<List<T>>;
}

/** Batches the pages that nodes of the same level request, by page size. */
export function pagesBy<T>(ctx: Context, operation: Operation<z.ZodType, readonly List<T>[]>): PageLoader<T> {
  const bySize = new Map<number | null | undefined, DataLoader<{ id: string; cursor?: string }, List<T>, string>>();
  const loaderOf = (limit: number | null | undefined) => {
    const known = bySize.get(limit);
    if (known) return known;
    const loader = new DataLoader<{ id: string; cursor?: string }, List<T>, string>(
      (parents) => invoke(ctx, operation, { limit: limit ?? undefined, of: parents }),
      { maxBatchSize: MAX_IDS, cacheKeyFn: ({ id, cursor }) => `${id} ${cursor ?? ''}` },
    );
    bySize.set(limit, loader);
    return loader;
  };
  return { load: (id, { first, after }) => loaderOf(first).load(after == null ? { id } : { id, cursor: after }) };
}

/** Creates one loader per month. */
function usageLoaders(ctx: Context): (month: string | null) => Pick<DataLoader<string, MonthUsage>, 'load'> {
  const byMonth = new Map<string | null, DataLoader<string, MonthUsage>>();
  return (month) => {
    const known = byMonth.get(month);
    if (known) return known;
    const input = month === null ? {} : { month };
    const loader = new DataLoader<string, MonthUsage>((ids) => invoke(ctx, readMonthUsages, { ids, ...input }), {
      maxBatchSize: MAX_IDS,
    });
    byMonth.set(month, loader);
    return loader;
  };
}

/** Creates one loader per range. */
function keyUsageLoaders(ctx: Context) {
  const byRange = new Map<string, Pick<DataLoader<string, KeyUsage | null>, 'load'>>();
  return (range: { readonly since: string; readonly until?: string | null | undefined }, bucket: string) => {
    const { since, until } = range;
    const name = `${since} ${until} ${bucket}`;
    const known = byRange.get(name);
    if (known) return known;
    const filters = { since, bucket, ...(until != null && { until }) };
    const loader = new DataLoader<string, KeyUsage | null>((ids) => invoke(ctx, readKeyUsages, { ids, ...filters }), {
      maxBatchSize: MAX_IDS_PER_LOOKUP,
    });
    byRange.set(name, loader);
    return loader;
  };
}

/** The target of a content link: an attachment by its index, or the source. */
interface LinkedId {
  readonly id: string;
  readonly place: number | null;
}
interface ContentLink {
  readonly url: string;
  readonly expires_at: string;
}

/** Creates the batched and cached reads of one request. */
export function createLoaders(ctx: Context) {
  return {
    messages: byIds(ctx, readMessages),
    places: byIds(ctx, readPlaces, MAX_IDS_PER_LOOKUP),
    messagesByRecipient: byIds(ctx, readRecipients, MAX_IDS_PER_LOOKUP),
    attempts: pagesBy(ctx, readAttempts),
    lastAttempts: byIds(ctx, readLastAttempts),
    // Content is read one item at a time: each may be megabytes in size, and every read is recorded in the audit log.
    contents: new DataLoader<string, EmailContent | null>(withinBudget((id) => contentOrNull(ctx, id))),
    // Creates one link for each occurrence in a response, because each link is single-use.
    contentLinks: new DataLoader<LinkedId, ContentLink, string>(
      (all) =>
        inTurn(all, ({ id, place }) =>
          invoke(ctx, createContentLink, { id, ...(place !== null && { attachment: place }) }),
        ),
      { cacheKeyFn: ({ id, place }) => `${id} ${place}` },
    ),
    captures: new DataLoader<string, CaptureDetail>(withinBudget((id) => invoke(ctx, getCapture, { id }))),
    events: byIds(ctx, readEvents),
    lastEvents: byIds(ctx, readLastEvents),
    timelines: pagesBy(ctx, readTimelines),
    domains: byIds(ctx, readDomains),
    domainsByName: byIds(ctx, readDomainsByName),
    holds: byIds(ctx, readHolds),
    alarms: byIds(ctx, readAlarms),
    attemptsById: byIds(ctx, readAttemptsById, MAX_IDS_PER_LOOKUP),
    failureGroups: byIds(ctx, readFailureGroups),
    keys: byIds(ctx, readKeys),
    suppressions: byIds(ctx, readSuppressions),
    suppressionsByEmail: byIds(ctx, readSuppressionsByEmail),
    bulks: byIds(ctx, readBulks),
    bulkFailures: byIds(ctx, readBulkFailures),
    webhooks: byIds(ctx, readWebhooks),
    webhookQuality: byIds(ctx, readWebhookQuality, MAX_IDS_PER_LOOKUP),
    webhookDeliveries: byIds(ctx, readWebhookDeliveries),
    deliveriesByEvent: byIds(ctx, readDeliveriesOfEvents),
    webhookPosts: byIds(ctx, readWebhookPosts, MAX_IDS_PER_LOOKUP),
    deliveryBodies: byIds(ctx, readDeliveryBodies, MAX_IDS_PER_LOOKUP),
    jobs: byIds(ctx, readJobs),
    jobsByMessage: byIds(ctx, readJobsOfMessages),
    // These lists are small enough to read in full.
    queues: once(async () => (await invoke(ctx, listQueues, {})).data),
    workers: once(async () => (await invoke(ctx, listWorkers, {})).data),
    heldQueues: once(async () => {
      const { data } = await invoke(ctx, listHolds, { limit: 100 });
      const instance_hold = data.find(({ scope }) => scope === 'instance');
      return new Map<string, HoldEntry>([
        ...(instance_hold ? instanceQueues.map((name) => [name, instance_hold] as const) : []),
        ...data.flatMap((hold) => (hold.scope === 'queue' ? [[hold.value, hold] as const] : [])),
      ]);
    }),
    workspaces: byIds(ctx, readWorkspaces),
    auditEntries: byIds(ctx, readAuditEntries),
    makers: byIds(ctx, readMakers),
    planUses: byIds(ctx, readPlanUses),
    usageOf: usageLoaders(ctx),
    keyUsages: keyUsageLoaders(ctx),
  };
}
export type Loaders = ReturnType<typeof createLoaders>;

// How long a cached read stays fresh: longer than most requests take, but shorter than a stream.
const FRESH_MS = 1000;

/** Caches one read for a short time. A stream lives longer than that, and then reads again. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | null = null;
  let read_at = 0;
  return () => {
    if (!pending || performance.now() - read_at > FRESH_MS) {
      read_at = performance.now();
      pending = read();
    }
    return pending;
  };
}

async function inTurn<Id, T>(ids: readonly Id[], read: (id: Id) => Promise<T>): Promise<T[]> {
  const values: T[] = [];
  for (const id of ids) values.push(await read(id));
  return values;
}

/**
 * Reads content one item at a time and stops once a response reaches its size limit, because all content stays in
 * memory until the response is written.
 */
function withinBudget<T extends Readonly<Record<'html' | 'text', string | null>> | null>(
  read: (id: string) => Promise<T>,
): (ids: readonly string[]) => Promise<(T | AppError)[]> {
  let characters = 0;
  return (ids) =>
    inTurn(ids, async (id) => {
      if (characters > MAX_RESPONSE_BYTES) return responseTooLarge();
      const content = await read(id);
      characters += (content?.html?.length ?? 0) + (content?.text?.length ?? 0);
      return content;
    });
}

/** Returns a message's content, or null if it is gone: log entries outlive the content of their messages. */
async function contentOrNull(ctx: Context, id: string): Promise<EmailContent | null> {
  try {
    return await invoke(ctx, getContent, { id });
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
