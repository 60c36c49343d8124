const MINUTE_MS = 60_000;

/** Detects the start of a new clock minute, for counts that reset every minute. */
export class Minutes {
  #minute = 0;

  /** Returns whether another minute has begun since the last call. */
  turn(now_ms: number): boolean {
    const minute = Math.floor(now_ms / MINUTE_MS);
    if (minute === this.#minute) return false;
    this.#minute = minute;
    return true;
  }
}
