import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_MS = 200;
const TIMEOUT_MS = 15_000;

export interface Sent {
  readonly id: string;
  readonly to: string;
}

/** Clients that send at a steady rate and repeat a request whose connection was refused or cut. */
export class SteadyClients {
  readonly sent: Sent[] = [];
  /** Responses other than 202. */
  readonly failures: string[] = [];
  repeats = 0;
  #running = true;
  readonly #open = new Set<Promise<void>>();
  readonly #loop: Promise<void>;

  constructor(url: string, key: string, from: string, per_second: number) {
    this.#loop = this.#send(url, key, from, 1000 / per_second);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    await Promise.all(this.#open);
  }

  async #send(url: string, key: string, from: string, every_ms: number): Promise<void> {
    for (let count = 0; this.#running; count++) {
      const work = this.#one(url, key, {
        from,
        to: `reader${count}@example.com`,
        subject: `Number ${count}`,
        text: 'Hi',
      });
      this.#open.add(work);
      void work.finally(() => this.#open.delete(work));
      await pause(every_ms);
    }
  }

  async #one(url: string, key: string, message: { readonly to: string } & Record<string, string>): Promise<void> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    for (;;) {
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const response = await fetch(`${url}/v1/email/send`, {
          method: 'POST',
          headers,
          body: JSON.stringify(message),
          signal,
        });
        const text = await response.text();
        if (response.status === 202) this.sent.push({ id: (JSON.parse(text) as { id: string }).id, to: message.to });
        else this.failures.push(`${response.status}: ${text.slice(0, 200)}`);
        return;
      } catch {
        this.repeats += 1;
        await pause(RETRY_MS);
      }
    }
  }
}
