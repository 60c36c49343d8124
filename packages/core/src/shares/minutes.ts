const MINUTE_MS = 60_000;

/** Tells when another minute of the clock has begun, for counts that start over with it. */
export class Minutes {
  #minute = 0;

  /** Whether another minute has begun since the last call. */
  turn(now_ms: number): boolean {
    const minute = Math.floor(now_ms / MINUTE_MS);
    if (minute === this.#minute) return false;
    this.#minute = minute;
    return true;
  }
}
