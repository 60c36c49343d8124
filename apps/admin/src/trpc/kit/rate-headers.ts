import type { RateWindow } from '@postrider/core/usage';

/**
 * The rate windows that a request counted against. The headers describe the window with the fewest requests remaining.
 */
export class RateNotes {
  #windows: RateWindow[] = [];

  note(window: RateWindow): void {
    this.#windows.push(window);
  }

  headers(): Record<string, string> {
    const [window] = this.#windows.toSorted((left, right) => left.remaining - right.remaining);
    if (!window) return {};
    return {
      'x-ratelimit-limit': String(window.limit),
      'x-ratelimit-remaining': String(window.remaining),
      'x-ratelimit-reset': String(window.reset_unix),
    };
  }
}
