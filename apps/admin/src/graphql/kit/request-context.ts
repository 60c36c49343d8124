import type { ActorContext } from '@postrider/core';
import type { CostMeter } from '../cost/cost-meter.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** Opens a stream. It counts against the stream limit of its key and closes when the key expires or is revoked. */
export type Follow = <T>(
  g: GraphqlContext,
  source: () => Promise<AsyncGenerator<T | null>>,
) => Promise<AsyncGenerator<T>>;

/** The context of every resolver. */
export interface GraphqlContext {
  readonly ctx: ActorContext;
  /** A stream replaces the loaders for each event because cached values may have changed. */
  load: Loaders;
  readonly cost: CostMeter;
  readonly follow: Follow;
}

export function createGraphqlContext(ctx: ActorContext, cost: CostMeter, follow: Follow): GraphqlContext {
  return { ctx, load: createLoaders(ctx), cost, follow };
}
