/** Milliseconds since 1970. */
export function nowMs(): number {
  return Date.now();
}
