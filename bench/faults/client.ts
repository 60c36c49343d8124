import { setTimeout as pause } from 'node:timers/promises';
import type { Ledgers, SentEntry } from './ledgers.ts';
import type { Random } from './random.ts';
import { wallTime } from './wall-time.ts';

export interface LoadOptions {
  readonly ports: readonly number[];
  readonly secret: string;
  readonly from: string;
  readonly domains: readonly string[];
  readonly per_second: number;
  /** How far ahead scheduled mail may be, in seconds. */
  readonly horizon_s: number;
}

interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
}

const GIVE_UP_MS = 240_000;
const TIMEOUT_MS = 15_000;
const BATCH = 50;
const BATCHES_AT_ONCE = 6;
const POLL_MS = 100;

/** Clients that retry each request with the same key until they get a response. */
export class Load {
  readonly #ledgers: Ledgers;
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #open = new Set<Promise<void>>();
  #made = 0;
  #running = false;

  constructor(ledgers: Ledgers, random: Random, options: LoadOptions) {
    this.#ledgers = ledgers;
    this.#options = options;
    this.#random = random;
  }

  /** Sends at the configured rate until `stop`. */
  start(): void {
    this.#running = true;
    const began = performance.now();
    let count = 0;
    const tick = () => {
      if (!this.#running) return;
      const due = ((performance.now() - began) / 1000) * this.#options.per_second;
      for (; count < due; count++) this.#keep(this.#one(this.#made++));
      setTimeout(tick, 10);
    };
    tick();
  }

  /** Sends whenever fewer than `target` messages are open, instead of at a fixed rate, until `stop`. */
  startBacklog(target: number, open: () => Promise<number>): void {
    this.#running = true;
    const refill = async () => {
      while (this.#running) {
        const batches = Math.min(BATCHES_AT_ONCE, Math.ceil((target - (await open())) / BATCH));
        if (batches > 0) await Promise.all(Array.from({ length: batches }, () => this.#batch(this.#made++)));
        else await pause(POLL_MS);
      }
    };
    this.#keep(refill());
  }

  async stop(): Promise<void> {
    this.#running = false;
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Sends one message to a special domain. */
  sendTo(domain: string): void {
    const index = this.#made++;
    const sent = newSent(index, [`slow${index}@${domain}`], null);
    this.#ledgers.sent.push(sent);
    this.#keep(this.#send(sent, this.#bodyOf(sent, index, false), this.#random.fork(sent.key)).then(() => undefined));
  }

  #keep(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  async #one(index: number): Promise<void> {
    // The generator is forked per request, so that a request's content does not depend on how often other requests were
    // retried.
    const random = this.#random.fork(`request ${index}`);
    const { body, sent, cancel_after_ms, twice: is_repeated } = this.#request(index, random);
    this.#ledgers.sent.push(sent);
    const id = await this.#send(sent, body, random);
    if (is_repeated && id !== null) await this.#send(sent, body, random);
    if (cancel_after_ms !== null && id !== null) {
      await pause(cancel_after_ms);
      await this.#cancel(sent, id, random);
    }
  }

  #request(index: number, random: Random) {
    const dice = random.next();
    const { domains, horizon_s } = this.#options;
    const recipients = Array.from(
      { length: dice < 0.1 ? 3 : 1 },
      (_, place) => `r${index}.${place}@${domains[random.between(0, domains.length - 1)]}`,
    );
    const scheduled = dice >= 0.1 && dice < 0.2;
    const ahead_ms = random.between(Math.min(10, horizon_s / 2) * 1000, horizon_s * 1000);
    // Requests without an Idempotency-Key take the fast path if the API has a fast path.
    const keyed = dice < 0.3 || dice >= 0.6;
    const sent = newSent(index, recipients, scheduled ? wallTime() + ahead_ms : null, keyed);
    const canceled = scheduled && dice < 0.12;
    return {
      body: this.#bodyOf(sent, index, dice >= 0.25 && dice < 0.3),
      sent,
      cancel_after_ms: canceled ? random.between(0, ahead_ms) : null,
      twice: dice >= 0.2 && dice < 0.25,
    };
  }

  #bodyOf({ recipients, due_at }: SentEntry, index: number, large: boolean): string {
    return JSON.stringify({
      from: this.#options.from,
      to: recipients,
      subject: `Order ${index}`,
      text: large ? `Line of a large email ${index}\n`.repeat(200_000 / 25) : `Your order ${index} is on its way.`,
      ...(due_at !== null && { scheduled_at: new Date(due_at).toISOString() }),
    });
  }

  async #batch(number: number): Promise<void> {
    const random = this.#random.fork(`batch ${number}`);
    const { domains } = this.#options;
    const messages = Array.from({ length: BATCH }, (_, place) => {
      const index = number * BATCH + place;
      return newSent(index, [`r${index}@${domains[random.between(0, domains.length - 1)]}`], null);
    });
    this.#ledgers.sent.push(...messages);
    const body = `[${messages.map((sent, place) => this.#bodyOf(sent, number * BATCH + place, false)).join()}]`;
    const response = await this.#repeat('/v1/email/batch', body, `fault-batch-${number}`, random);
    const entries = (response?.body as { data?: { id?: string }[] } | undefined)?.data ?? [];
    for (const [place, sent] of messages.entries()) {
      const id = entries[place]?.id;
      if (id !== undefined) this.#accepted(sent, id);
      else if (response !== null)
        sent.refusal = `${response.status} ${JSON.stringify(entries[place] ?? response.body)}`;
    }
  }

  async #send(sent: SentEntry, body: string, random: Random): Promise<string | null> {
    const path = '/v1/email/send';
    const response = sent.keyed
      ? await this.#repeat(path, body, sent.key, random)
      : await this.#ask(random.between(0, 1), path, body, undefined);
    if (response === null || response.status >= 500) return null;
    if (response.status === 202) {
      const { id } = response.body as { id: string };
      this.#accepted(sent, id);
      return id;
    }
    sent.refusal = `${response.status} ${JSON.stringify(response.body).slice(0, 200)}`;
    return null;
  }

  #accepted(sent: SentEntry, id: string): void {
    sent.ids.add(id);
    sent.accepted_at ??= wallTime();
    this.#ledgers.accepted.push(wallTime());
  }

  async #cancel(sent: SentEntry, id: string, random: Random): Promise<void> {
    sent.canceled = 'unknown';
    const response = await this.#repeat(`/v1/email/${id}/cancel`, undefined, undefined, random);
    if (response === null) return;
    sent.canceled = response.status === 200 ? 'yes' : 'refused';
  }

  /** Retries until a response is final. */
  async #repeat(
    path: string,
    body: string | undefined,
    key: string | undefined,
    random: Random,
  ): Promise<ApiResponse | null> {
    const began = wallTime();
    for (let turn = random.between(0, 1); wallTime() - began < GIVE_UP_MS; turn++) {
      const response = await this.#ask(turn, path, body, key);
      if (response !== null && isFinal(response)) return response;
      await pause(Math.min(1000, 50 * 2 ** Math.min(turn, 5)) + random.between(0, 50));
    }
    return null;
  }

  /** Sends once; returns null if no response arrived. */
  #ask(turn: number, path: string, body: string | undefined, key: string | undefined): Promise<ApiResponse | null> {
    const port = this.#options.ports[turn % this.#options.ports.length];
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#options.secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as unknown }))
      .catch(() => null)
      .then((response) => {
        if (response === null || response.status >= 500) this.#ledgers.failures.push(wallTime());
        return response;
      });
  }
}

/**
 * Returns whether a response is final: not a server error, not a rate limit, and not a notice that the same request is
 * still in progress.
 */
function isFinal({ status, body }: ApiResponse): boolean {
  return status < 500 && status !== 429 && !JSON.stringify(body).includes('idempotency_in_progress');
}

function newSent(index: number, recipients: readonly string[], due_at: number | null, keyed = true): SentEntry {
  return {
    key: `fault-${index}`,
    keyed,
    recipients,
    due_at,
    first_tried_at: wallTime(),
    accepted_at: null,
    ids: new Set(),
    refusal: null,
    canceled: 'no',
  };
}
