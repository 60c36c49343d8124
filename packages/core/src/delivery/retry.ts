/** Seconds until the next attempt, null after the last: the schedule holds the gaps between attempts. */
export function retryDelay(schedule: readonly number[], attempt_count: number): number | null {
  return schedule[attempt_count - 1] ?? null;
}
