import type { Services } from '@postrider/core';
import { freeUnknownMail } from '@postrider/core/delivery';
import { repeatEvery } from '../repeat-task.ts';

const POLL_MS = 1000;
/** A job fetched more recently than this may still be on its way here. */
const QUIET_SECONDS = 3;
/** How long the search repeats. Each look skips locked rows, so a single look may miss some. */
const SEARCH_MS = 15_000;

/**
 * Searches for jobs that this worker holds without knowing it, because a fetch or claim that fails may have been
 * committed. Without the search, such jobs would wait until their heartbeat is missed, which takes over half a minute.
 */
export class LostReplies {
  readonly #looks: ReturnType<typeof repeatEvery>;
  #lost_at: number | null = null;

  /**
   * `known` returns the jobs that wait in a lane, are being claimed, or are claimed but not settled. A job that is
   * being parked is not included: if the job is freed first, parking skips it.
   */
  constructor(services: Services, known: () => readonly string[]) {
    const look = async () => {
      const lost_at = this.#lost_at;
      if (lost_at === null || performance.now() < lost_at + QUIET_SECONDS * 1000) return;
      let count: number;
      try {
        count = await freeUnknownMail(services, known, QUIET_SECONDS);
      } catch (error) {
        this.note();
        throw error;
      }
      if (this.#lost_at === lost_at && performance.now() > lost_at + SEARCH_MS) this.#lost_at = null;
      if (count === 0) return;
      services.log.warn({ count }, 'recovered jobs whose fetch response was lost');
      services.jobs.wakeAll('delivery.attempt');
    };
    this.#looks = repeatEvery(POLL_MS, look, services);
  }

  /** Notes that a statement that fetches, claims or moves jobs has failed. */
  note(): void {
    this.#lost_at = performance.now();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }
}
