import { type Config, readServerRecord, roleNames, type ServerRecord } from '@postrider/core';
import { type Claim, claim } from '@postrider/db/embedded';

export interface OnlyOne {
  listens(url: string): void;
  end(): void;
}

/** Refuses to start a second all-in-one Postrider on the same data directory, and reports where the first one runs. */
export async function claimData(config: Config): Promise<OnlyOne> {
  const all_roles = roleNames.every((role) => config.ROLES.includes(role));
  const text = (url: string | null) => JSON.stringify({ whole: all_roles, url } satisfies ServerRecord);
  const own_claim: Claim = await claim(config.DATA_DIR, text(null), (names) => {
    const other = all_roles ? names.map(readServerRecord).find((record) => record.whole) : undefined;
    if (!other) return;
    const location = other.url === null ? 'It is still starting' : `It runs at ${other.url}`;
    throw new Error(
      `Postrider is already running with the data in ${config.DATA_DIR}. ${location}. ` +
        'Stop it first, set DATA_DIR to run a second instance, or set ROLES to add a process to this one.',
    );
  });
  return { listens: (url) => own_claim.say(text(url)), end: () => own_claim.end() };
}
