/** What a request asked for, and what it got: nodes, each counted once for every time that it is read. */
export interface CostMeter {
  requested: number;
  /** Nodes that a page had room for and did not hold. */
  spared: number;
}

export function createCostMeter(): CostMeter {
  return { requested: 0, spared: 0 };
}
