import type { KeyMode } from '@postrider/core/api-keys';
import type { DeliveryJob } from '@postrider/core/delivery';
import type { Priority } from '@postrider/core/priorities';
import type { Standing } from './fair-line.ts';

/** A fetched job that waits to be claimed. */
export interface Candidate {
  readonly job: DeliveryJob;
  readonly lane: string;
  readonly priority: Priority;
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly tags: readonly string[];
  readonly body_bytes: number;
  readonly due_at: Date;
  /** True if the job was parked earlier, so it does not wait behind the parked messages of its workspace. */
  readonly resumed: boolean;
}

/** The lane of jobs that have nothing to send and therefore never wait. */
export const NO_LANE = '';

export interface LaneLimit {
  readonly connections: number | null;
  readonly messages_per_minute: number | null;
}

/** A claimed message that waits for a connection in its lane. */
export interface Starter extends Standing {
  run(): void;
  /** Called if the lane closes before the message has had its turn. */
  refuse(): void;
}

/** A lane that was just closed because of its failures. */
export interface ClosedNow {
  readonly seconds: number;
  readonly closings: number;
  /** Unclaimed messages that waited in the lane. */
  readonly left: readonly Candidate[];
}
