/** Returns the seconds until the next attempt, or null after the last: the schedule lists the gaps between attempts. */
export function retryDelay(schedule: readonly number[], attempt_count: number): number | null {
  return schedule[attempt_count - 1] ?? null;
}
