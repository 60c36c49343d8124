/** One way in which a multi-machine installation fails or grows, rehearsed on this machine. */
export interface Drill {
  readonly about: string;
  /** Returns whether every check passed. */
  run(tools: DrillTools): Promise<boolean>;
}

export interface DrillTools {
  /** For sockets, data and logs; removed afterwards if every check passed. */
  readonly folder: string;
  say(line: string): void;
}
