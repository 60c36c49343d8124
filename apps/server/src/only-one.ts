import { type Config, roleNames } from '@postrider/core';
import { type Claim, claim } from '@postrider/db/embedded';

/** A process's report about itself to others on the same data directory. */
interface ServerRecord {
  /** Whether the process runs every role, in which case starting a second one is rarely intended. */
  readonly whole: boolean;
  /** Null until the process is listening. */
  readonly url: string | null;
}

export interface OnlyOne {
  listens(url: string): void;
  end(): void;
}

/** Refuses to start a second all-in-one Postrider on the same data directory, and reports where the first one runs. */
export async function claimData(config: Config): Promise<OnlyOne> {
  const all_roles = roleNames.every((role) => config.ROLES.includes(role));
  const text = (url: string | null) => JSON.stringify({ whole: all_roles, url } satisfies ServerRecord);
  const own_claim: Claim = await claim(config.DATA_DIR, text(null), (names) => {
    const other = all_roles ? names.map(readRecord).find((record) => record.whole) : undefined;
    if (!other) return;
    const location = other.url === null ? 'It is still starting' : `It runs at ${other.url}`;
    throw new Error(
      `Postrider is already running with the data in ${config.DATA_DIR}. ${location}. ` +
        'Stop it first, set DATA_DIR to run a second instance, or set ROLES to add a process to this one.',
    );
  });
  return { listens: (url) => own_claim.say(text(url)), end: () => own_claim.end() };
}

function readRecord(text: string): ServerRecord {
  // The file was written by a process of the same user, from either this release or another one.
  const { whole: all_roles = false, url = null } = JSON.parse(text) as Partial<ServerRecord>;
  return { whole: all_roles, url };
}
