/** One way in which a multi-machine installation fails or grows, rehearsed on this machine. */
export interface Drill {
  readonly about: string;
  /** Returns whether every check passed. */
  run(tools: DrillTools): Promise<boolean>;
}

export interface DrillTools {
  /** The folder for sockets, data, and logs, which is removed afterwards if every check passes. */
  readonly folder: string;
  say(line: string): void;
}
