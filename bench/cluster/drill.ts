/** One way in which an installation of several machines fails or grows, tried on this one. */
export interface Drill {
  readonly about: string;
  /** Whether everything held. */
  run(tools: DrillTools): Promise<boolean>;
}

export interface DrillTools {
  /** For sockets, data and logs; it is removed afterwards where everything held. */
  readonly folder: string;
  say(line: string): void;
}
