import type { ActorContext } from '@postrider/core';
import type { CostMeter } from './cost.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import type { Follow } from './streams.ts';

/** What every resolver gets: the context of the core, and what is read in batches for this request alone. */
export interface GraphqlContext {
  readonly ctx: ActorContext;
  /** A stream begins anew with each event: what it has read may have changed since. */
  load: Loaders;
  readonly cost: CostMeter;
  readonly follow: Follow;
}

export function createGraphqlContext(ctx: ActorContext, cost: CostMeter, follow: Follow): GraphqlContext {
  return { ctx, load: createLoaders(ctx), cost, follow };
}
