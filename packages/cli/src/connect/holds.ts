import type { HoldEntry } from '@postrider/core/holds';

interface NewHold {
  readonly scope: string;
  readonly value: string;
  readonly reason: string;
  readonly expires_at: string | undefined;
  readonly resume_rate_per_minute: number | undefined;
  readonly workspace_id: string | undefined;
}

interface Release {
  readonly id: string;
  readonly resume_rate_per_minute: number | undefined;
  readonly at_once: boolean;
}

/** The API of the hold commands. */
export interface Holds {
  create(hold: NewHold): Promise<HoldEntry>;
  release(change: Release): Promise<HoldEntry>;
  list(active: boolean): Promise<readonly HoldEntry[]>;
}
