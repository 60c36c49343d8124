/** Returns this machine's time, for commands that use HTTP. */
export function nowMs(): number {
  return Date.now();
}
