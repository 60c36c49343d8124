import type { ActorContext } from '@postrider/core';
import type { CostMeter } from './cost.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What every resolver gets: the context of the core, and what is read in batches for this request alone. */
export interface GraphqlContext {
  readonly ctx: ActorContext;
  readonly load: Loaders;
  readonly cost: CostMeter;
}

export function createGraphqlContext(ctx: ActorContext, cost: CostMeter): GraphqlContext {
  return { ctx, load: createLoaders(ctx), cost };
}
