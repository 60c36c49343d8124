/** What a server reports about itself to other processes on the same data directory. */
export interface ServerRecord {
  /** Whether the process runs every role, in which case starting a second one is rarely intended. */
  readonly whole: boolean;
  /** Null until the process is listening. */
  readonly url: string | null;
}

/** Reads a record that a process of the same user has written, from either this release or another one. */
export function readServerRecord(text: string): ServerRecord {
  const { whole = false, url = null } = JSON.parse(text) as Partial<ServerRecord>;
  return { whole, url };
}
