import { setTimeout as pause } from 'node:timers/promises';
import type { Ledgers, SentEntry } from '../faults/ledgers.ts';
import { wallTime } from '../faults/wall-time.ts';
import { SENDER } from './installation.ts';

const TIMEOUT_MS = 15_000;
const GIVE_UP_MS = 120_000;
const MAX_PAUSE_MS = 500;

/** One request whose response was not 202. */
export interface Failure {
  readonly at: number;
  readonly began_at: number;
  readonly what: string;
}

export interface ClientsOptions {
  readonly port: number;
  readonly secret: string;
  readonly per_second: number;
  /** The share of requests that carry an Idempotency-Key and are retried until they get a response. */
  readonly keyed: number;
}

/** Clients that send at a steady rate and record each response. */
export class Clients {
  readonly failures: Failure[] = [];
  readonly #ledgers: Ledgers;
  readonly #options: ClientsOptions;
  readonly #open = new Set<Promise<void>>();
  #running = true;
  #max_open = 0;

  constructor(ledgers: Ledgers, options: ClientsOptions) {
    this.#ledgers = ledgers;
    this.#options = options;
    const began = performance.now();
    let count = 0;
    const tick = () => {
      if (!this.#running) return;
      const due = ((performance.now() - began) / 1000) * options.per_second;
      for (; count < due; count++) this.#keep(this.#one(count));
      setTimeout(tick, 10);
    };
    tick();
  }

  /** The maximum number of concurrent requests. */
  get max_open(): number {
    return this.#max_open;
  }

  /** Stops sending, and waits for outstanding responses. */
  async stop(): Promise<void> {
    this.#running = false;
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #keep(work: Promise<void>): void {
    this.#open.add(work);
    this.#max_open = Math.max(this.#max_open, this.#open.size);
    void work.finally(() => this.#open.delete(work));
  }

  async #one(index: number): Promise<void> {
    const sent: SentEntry = {
      key: `cluster-${index}`,
      keyed: (index % 100) / 100 < this.#options.keyed,
      recipients: [`r${index}@example.com`],
      due_at: null,
      first_tried_at: wallTime(),
      accepted_at: null,
      ids: new Set(),
      refusal: null,
      canceled: 'no',
    };
    this.#ledgers.sent.push(sent);
    for (let turn = 0; wallTime() - sent.first_tried_at < GIVE_UP_MS; turn++) {
      if (await this.#ask(sent, index)) return;
      if (!sent.keyed) return;
      await pause(Math.min(MAX_PAUSE_MS, 50 * 2 ** turn));
    }
  }

  /** Sends the request once; returns whether the response is final. */
  async #ask(sent: SentEntry, index: number): Promise<boolean> {
    const { port, secret } = this.#options;
    const began_at = wallTime();
    const failed = (problem: string) => {
      this.failures.push({ at: wallTime(), began_at, what: problem });
      return false;
    };
    try {
      const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          ...(sent.keyed && { 'idempotency-key': sent.key }),
        },
        body: JSON.stringify({
          from: `Shop <orders@${SENDER}>`,
          to: sent.recipients,
          subject: `Order ${index}`,
          text: `Your order ${index} is on its way.`,
        }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.status !== 202) return failed(`${response.status} ${text.slice(0, 160)}`);
      sent.ids.add((JSON.parse(text) as { id: string }).id);
      sent.accepted_at ??= wallTime();
      this.#ledgers.accepted.push(wallTime());
      return true;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return failed(String(cause));
    }
  }
}
