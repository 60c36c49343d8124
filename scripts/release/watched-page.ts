import { setTimeout as pause } from 'node:timers/promises';

// Rarely enough that five watched pages are no load of their own.
const EVERY_MS = 400;
const TIMEOUT_MS = 1000;

/** Asks for a page all the time, and remembers for how long it did not answer. */
export class WatchedPage {
  readonly name: string;
  longest_ms = 0;
  #running = true;
  readonly #loop: Promise<void>;

  constructor(name: string, url: string) {
    this.name = name;
    this.#loop = this.#watch(url);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
  }

  async #watch(url: string): Promise<void> {
    let answered_at = performance.now();
    while (this.#running) {
      const is_there = await answers(url);
      const now = performance.now();
      if (is_there) answered_at = now;
      else this.longest_ms = Math.max(this.longest_ms, now - answered_at);
      await pause(EVERY_MS);
    }
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
