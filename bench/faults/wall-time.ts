/** Milliseconds since 1970, by the machine's clock, which the database and every process share here. */
export function wallTime(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
