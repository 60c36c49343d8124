import { type Context, invoke, type Operation } from '@postrider/core';
import { readMessages } from '@postrider/core/messages';
import DataLoader from 'dataloader';
import type { z } from 'zod';

// What a batch of the core takes at most.
const MOST_IDS = 1000;

export interface IdLoader<T> {
  load(id: string): Promise<T | null>;
  loadMany(ids: readonly string[]): Promise<(T | null)[]>;
}

/** Collects ids until the resolvers of one level have run, and asks for all of them at once. */
export function byIds<T>(ctx: Context, operation: Operation<z.ZodType, readonly (T | null)[]>): IdLoader<T> {
  const loader = new DataLoader<string, T | null>((ids) => invoke(ctx, operation, { ids }), { maxBatchSize: MOST_IDS });
  const load = (id: string) => loader.load(id);
  return { load, loadMany: (ids) => Promise.all(ids.map(load)) };
}

/** The batched reads of one request; what is loaded once is remembered for it. */
export function createLoaders(ctx: Context) {
  return {
    messages: byIds(ctx, readMessages),
  };
}
export type Loaders = ReturnType<typeof createLoaders>;
