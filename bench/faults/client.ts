import { setTimeout as pause } from 'node:timers/promises';
import type { Ledgers, Sent } from './ledgers.ts';
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

const GIVE_UP_MS = 240_000;
const TIMEOUT_MS = 15_000;

/** Clients that keep the key of a request and repeat it until they have an answer. */
export class Load {
  readonly #ledgers: Ledgers;
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #open = new Set<Promise<void>>();
  #running = false;

  constructor(ledgers: Ledgers, random: Random, options: LoadOptions) {
    this.#ledgers = ledgers;
    this.#options = options;
    this.#random = random;
  }

  /** Sends at the pace until `stop`, at least so many messages. */
  start(): void {
    this.#running = true;
    const began = performance.now();
    let made = 0;
    const tick = () => {
      if (!this.#running) return;
      const due = ((performance.now() - began) / 1000) * this.#options.per_second;
      for (; made < due; made++) this.#keep(this.#one(this.#ledgers.sent.length));
      setTimeout(tick, 10);
    };
    tick();
  }

  async stop(): Promise<void> {
    this.#running = false;
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #keep(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  async #one(index: number): Promise<void> {
    const { body, sent, cancel_after_ms, twice } = this.#request(index);
    this.#ledgers.sent.push(sent);
    const id = await this.#send(sent, body);
    if (twice && id !== null) await this.#send(sent, body);
    if (cancel_after_ms !== null && id !== null) {
      await pause(cancel_after_ms);
      await this.#cancel(sent, id);
    }
  }

  #request(index: number) {
    const dice = this.#random.next();
    const { domains, from, horizon_s } = this.#options;
    const recipients = Array.from(
      { length: dice < 0.1 ? 3 : 1 },
      (_, place) => `r${index}.${place}@${domains[this.#random.between(0, domains.length - 1)]}`,
    );
    const scheduled = dice >= 0.1 && dice < 0.2;
    const ahead_ms = this.#random.between(Math.min(10, horizon_s / 2) * 1000, horizon_s * 1000);
    const due_at = scheduled ? wallTime() + ahead_ms : null;
    const sent: Sent = {
      key: `fault-${index}`,
      recipients,
      due_at,
      first_tried_at: wallTime(),
      accepted_at: null,
      ids: new Set(),
      refusal: null,
      canceled: 'no',
    };
    const large = dice >= 0.25 && dice < 0.3;
    const body = JSON.stringify({
      from,
      to: recipients,
      subject: `Order ${index}`,
      text: large ? `Line of a large mail ${index}\n`.repeat(200_000 / 25) : `Your order ${index} is on its way.`,
      ...(due_at !== null && { scheduled_at: new Date(due_at).toISOString() }),
    });
    const canceled = scheduled && dice < 0.12;
    return {
      body,
      sent,
      cancel_after_ms: canceled ? this.#random.between(0, ahead_ms) : null,
      twice: dice >= 0.2 && dice < 0.25,
    };
  }

  async #send(sent: Sent, body: string): Promise<string | null> {
    const answer = await this.#repeat('/v1/email/send', body, sent.key);
    if (answer === null) return null;
    if (answer.status === 202) {
      const { id } = answer.body as { id: string };
      sent.ids.add(id);
      sent.accepted_at ??= wallTime();
      return id;
    }
    sent.refusal = `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
    return null;
  }

  async #cancel(sent: Sent, id: string): Promise<void> {
    sent.canceled = 'unknown';
    const answer = await this.#repeat(`/v1/email/${id}/cancel`, undefined, undefined);
    if (answer === null) return;
    sent.canceled = answer.status === 200 ? 'yes' : 'refused';
  }

  /** Asks until there is an answer that is final: neither a 5xx, nor a 429, nor a lost connection. */
  async #repeat(path: string, body: string | undefined, key: string | undefined) {
    const began = wallTime();
    for (let turn = 0; wallTime() - began < GIVE_UP_MS; turn++) {
      const port = this.#options.ports[(turn + this.#random.between(0, 1)) % this.#options.ports.length];
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
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
        .catch(() => null);
      if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
      await pause(Math.min(1000, 50 * 2 ** Math.min(turn, 5)) + this.#random.between(0, 50));
    }
    return null;
  }
}
