/** A Date header has whole seconds and arrives late, so a smaller difference says nothing. */
const PRECISION_MS = 2000;

let offset_ms = 0;

/** Notes the Date header of a response. */
export function noteServerTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) offset_ms = Math.abs(difference) < PRECISION_MS ? 0 : difference;
}

/** Returns the server's time, so that a browser whose clock is wrong shows the same ages as every other. */
export function nowMs(): number {
  return Date.now() + offset_ms;
}
