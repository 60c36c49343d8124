import type { Clock } from '@postrider/core';
import type { Sql } from '@postrider/db';

/** The process's clock and its database's clock_now(), moved together; only for databases created by createDatabase. */
export interface TestClock extends Clock {
  advance(duration_ms: number): Promise<void>;
  /** Stops time at the given moment. Until unfreeze, only `advance` moves time. */
  freeze(at: Date): Promise<void>;
  /** Resumes time from where it stopped. */
  unfreeze(): Promise<void>;
}

export function createTestClock(sql: Sql): TestClock {
  let frozen_at: number | null = null;
  let jump_ms = 0;
  const now = () => (frozen_at ?? Date.now()) + jump_ms;

  async function store(): Promise<void> {
    const frozen = frozen_at === null ? null : new Date(frozen_at);
    await sql`update public.test_clock
      set frozen_at = ${frozen}::timestamptz, jump = ${jump_ms}::float8 * interval '1 millisecond'`;
  }

  return {
    now,
    async advance(duration_ms) {
      jump_ms += duration_ms;
      await store();
    },
    async freeze(at) {
      frozen_at = at.getTime();
      jump_ms = 0;
      await store();
    },
    async unfreeze() {
      jump_ms = now() - Date.now();
      frozen_at = null;
      await store();
    },
  };
}
