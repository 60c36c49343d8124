import type { List } from '@postrider/core';
import { type Connection, connectionFrom, type PageArgs, pageInput } from './connections.ts';

/** What a request asked for, and what it got, in nodes. */
export interface CostMeter {
  requested: number;
  /** Nodes that a page had room for and did not hold. */
  spared: number;
  /** A list as a connection, once it is noted how much of the page was not needed. */
  connection<T extends { readonly id: string }>(list: List<T>, args: PageArgs): Connection<T>;
}

export function createCostMeter(): CostMeter {
  return {
    requested: 0,
    spared: 0,
    connection(list, args) {
      this.spared += Math.max(0, pageInput(args).limit - list.data.length);
      return connectionFrom(list, args.after);
    },
  };
}
