import { AppError, type Context, invoke, type Operation } from '@postrider/core';
import { type FollowedEntry, followAudit } from '@postrider/core/audit';
import { type BulkEntry, followBulk } from '@postrider/core/bulk';
import { type DomainEntry, followDomain } from '@postrider/core/domains';
import { type FollowedEvent, followEvents } from '@postrider/core/events';
import { followMessage, followMessages } from '@postrider/core/messages';
import { type FollowedOverview, followOverview } from '@postrider/core/overview';
import { followQueues, type QueueView } from '@postrider/core/queues';
import { type FollowedDelivery, followDeliveries } from '@postrider/core/webhooks';
import type { TRPCSubscriptionProcedure, TrackedEnvelope } from '@trpc/server';
import { z } from 'zod';
import { fieldsOf, following, type Source, STATE, stream, type Told } from './kit/follow-procedure.ts';
import { asItCame, subscriptions } from './kit/invoke-procedure.ts';

/** A log as a topic: each entry has a cursor that a reconnect resumes after, so that none is missed. */
const logged = <T>({ node, cursor }: { readonly node: T; readonly cursor: string }): Told<T> => ({
  id: cursor,
  data: node,
});

/** A state as a topic: a reconnect gets it again. */
const state = <T>(data: T): Told<T> => ({ id: STATE, data });

/** All topics by name. */
const topics = {
  emails: topic(followMessages, logged),
  email: topic(followMessage, logged),
  events: topic(followEvents, logged),
  deliveries: topic(followDeliveries, logged),
  audit: topic(followAudit, logged),
  domain: topic(followDomain, state),
  overview: topic(followOverview, state),
  queues: topic(followQueues, state),
  bulk: topic(followBulk, state),
};

type TopicName = keyof typeof topics;

export type LiveMessage =
  | { readonly topic: 'emails' | 'email' | 'events'; readonly data: FollowedEvent['node'] }
  | { readonly topic: 'deliveries'; readonly data: FollowedDelivery['node'] }
  | { readonly topic: 'audit'; readonly data: FollowedEntry['node'] }
  | { readonly topic: 'domain'; readonly data: DomainEntry }
  | { readonly topic: 'overview'; readonly data: FollowedOverview }
  | { readonly topic: 'queues'; readonly data: readonly QueueView[] }
  | { readonly topic: 'bulk'; readonly data: BulkEntry };

export const emailsStream = following(followMessages, logged);
export const emailWatch = following(followMessage, logged);
export const eventsStream = following(followEvents, logged);
export const deliveriesStream = following(followDeliveries, logged);
export const auditStream = following(followAudit, logged);
export const domainWatch = following(followDomain, state);
export const overviewStream = following(followOverview, state);
export const queuesStream = following(followQueues, state);
export const bulkWatch = following(followBulk, state);

interface Topic {
  open(ctx: Context, input: unknown): Promise<Source<unknown, unknown>>;
}

function topic<I extends z.ZodType, T, D>(
  operation: Operation<I, AsyncGenerator<T | null>>,
  tell: (item: T) => Told<D>,
): Topic {
  return {
    async open(ctx, input) {
      const items = await invoke(ctx, operation, input);
      // The cast holds because each source's items go only to its own tell.
      return { next: () => items.next(), stop: () => items.return(undefined), tell: (item) => tell(item as T) };
    },
  };
}

type TopicInput<N extends TopicName> = (typeof inputs)[N];

// For the client's types only; each operation validates its own part.
const inputs = {
  emails: {} as Readonly<Record<string, never>>,
  email: {} as { readonly id: string },
  events: {} as { readonly type?: string; readonly email_id?: string },
  deliveries: {} as { readonly webhook_id?: string },
  audit: {} as { readonly chain?: 'workspace' | 'instance' },
  domain: {} as { readonly domain: string },
  overview: {} as Readonly<Record<string, never>>,
  queues: {} as { readonly queues?: readonly string[] },
  bulk: {} as { readonly id: string },
};

interface LiveProcedure {
  readonly input: { readonly topics: { readonly [N in TopicName]?: TopicInput<N> } };
  readonly output: AsyncIterable<TrackedEnvelope<LiveMessage>, void, unknown>;
  readonly meta: unknown;
}

const MOST_TOPICS = 20;
const idsSchema = z.record(z.string(), z.string());

/**
 * All topics that a browser follows over one connection, because HTTP/1.1 allows six per host:
 *
 *     live.useSubscription({ topics: { events: {}, overview: {}, domain: { domain: 'example.com' } } })
 *
 * Each message is { topic, data }, with the data of that topic's stream. To change its topics, a page subscribes again.
 * The id of a message holds where each topic resumes.
 */
export const live: TRPCSubscriptionProcedure<LiveProcedure> = subscriptions.input(asItCame).subscription(
  ({ ctx, input, signal }) =>
    stream(ctx, signal, async (context) => {
      const { topics: asked, lastEventId } = fieldsOf(input);
      const ids = readIds(lastEventId);
      const wanted = Object.entries(fieldsOf(asked));
      if (wanted.length === 0 || wanted.length > MOST_TOPICS)
        throw new AppError('missing_field', `topics must name one or more of ${Object.keys(topics).join(', ')}.`);
      const open = new Map<string, Source<unknown, unknown>>();
      try {
        for (const [name, about] of wanted) {
          const after = ids.get(name);
          open.set(name, await topicNamed(name).open(context, { ...fieldsOf(about), ...(after && { after }) }));
        }
      } catch (error) {
        await Promise.all([...open.values()].map((source) => source.stop()));
        throw error;
      }
      return merged(open, ids);
    }),
  // The topics are typed above; a generic source loses their types.
) as never;

function topicNamed(name: string): Topic {
  const found = Object.entries(topics).find(([known]) => known === name);
  if (found) return found[1];
  throw new AppError(
    'invalid_type',
    `There is no topic ${name.slice(0, 64)}; there is ${Object.keys(topics).join(', ')}.`,
  );
}

interface Piece {
  readonly topic: string;
  readonly item: unknown;
}

/** Merges the items of several sources in the order in which they arrive. */
function merged(open: Map<string, Source<unknown, unknown>>, ids: Map<string, string>): Source<Piece, unknown> {
  const waiting = new Map<string, Promise<{ readonly name: string; readonly result: IteratorResult<unknown> }>>();
  const ask = (name: string, source: Source<unknown, unknown>) => {
    const asked = source.next().then((result) => ({ name, result }));
    // A source that loses the race is awaited again later, which reports its failure.
    asked.catch(() => undefined);
    waiting.set(name, asked);
  };
  for (const [name, source] of open) ask(name, source);
  return {
    async next() {
      if (waiting.size === 0) return { done: true, value: undefined };
      const { name, result } = await Promise.race(waiting.values());
      const source = open.get(name);
      if (result.done || !source) {
        waiting.delete(name);
        return { done: false, value: null };
      }
      ask(name, source);
      return { done: false, value: result.value === null ? null : { topic: name, item: result.value } };
    },
    stop: () => Promise.all([...open.values()].map((source) => source.stop())),
    tell({ topic: name, item }) {
      const source = open.get(name);
      if (!source) throw new Error(`nothing is followed as ${name}`);
      const { id, data } = source.tell(item);
      if (id !== STATE) ids.set(name, id);
      return { id: writeIds(ids), data: { topic: name, data } };
    },
  };
}

function writeIds(ids: ReadonlyMap<string, string>): string {
  return Buffer.from(JSON.stringify(Object.fromEntries(ids))).toString('base64url');
}

/** The ids of a lastEventId; malformed ones resume nothing. Each part is signed, and checked by its operation. */
function readIds(text: unknown): Map<string, string> {
  if (typeof text !== 'string') return new Map();
  try {
    return new Map(Object.entries(idsSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))));
  } catch {
    throw new AppError('invalid_cursor', 'lastEventId was not sent by this stream; subscribe without it.');
  }
}
