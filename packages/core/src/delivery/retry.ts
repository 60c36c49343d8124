/** Seconds until the attempt after this one, or null after the last: the schedule names the gaps between attempts. */
export function retryDelay(schedule: readonly number[], attempt_count: number): number | null {
  return schedule[attempt_count - 1] ?? null;
}
