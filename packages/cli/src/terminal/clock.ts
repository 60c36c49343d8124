/** The time of this machine, for commands that go over HTTP. */
export function nowMs(): number {
  return Date.now();
}
