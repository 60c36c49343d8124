import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 100;

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
      const is_there = await fetch(url, { signal: AbortSignal.timeout(1000) }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.ok;
        },
        () => false,
      );
      const now = performance.now();
      if (is_there) answered_at = now;
      else this.longest_ms = Math.max(this.longest_ms, now - answered_at);
      await pause(EVERY_MS);
    }
  }
}
