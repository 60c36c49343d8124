import { setTimeout as pause } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { ArrivalEntry } from '../ledgers.ts';
import { wallTime } from '../wall-time.ts';

/** The credentials and domain that one workspace sends with. */
export interface Account {
  readonly secret: string;
  readonly from: string;
}

export interface Endpoints {
  readonly ports: readonly number[];
  readonly submission_ports: readonly number[];
  readonly inbound_ports: readonly number[];
}

/** One email of the neighbor, or a probe of the health of a process. */
export interface Sample {
  readonly of: 'rest' | 'smtp' | 'large';
  readonly to: string;
  readonly began_at: number;
  readonly took_ms: number;
  /** The response code; null if there was no response. */
  readonly code: number | null;
}

export interface HealthProbe {
  readonly at: number;
  readonly took_ms: number;
  readonly ok: boolean;
}

const REST_EVERY_MS = 200;
const SMTP_EVERY_MS = 1000;
const LARGE_EVERY_MS = 5000;
const LARGE_BYTES = 300_000;
const PROBE_EVERY_MS = 100;
const TIMEOUT_MS = 30_000;

/** A workspace that sends little email, and the responses it gets. */
export class Neighbor {
  readonly samples: Sample[] = [];
  readonly probes: HealthProbe[] = [];
  readonly #account: Account;
  readonly #endpoints: Endpoints;
  readonly #domain: string;
  readonly #open = new Set<Promise<void>>();
  #serial = 0;
  #stopped = false;

  constructor(account: Account, endpoints: Endpoints, domain: string) {
    this.#account = account;
    this.#endpoints = endpoints;
    this.#domain = domain;
  }

  start(): void {
    this.#repeat(REST_EVERY_MS, (to) => this.#post('rest', to, 'Your order has left.'));
    this.#repeat(SMTP_EVERY_MS, (to) => this.#submit(to));
    this.#repeat(LARGE_EVERY_MS, (to) => this.#post('large', to, 'x'.repeat(LARGE_BYTES)));
    for (const port of this.#endpoints.ports) this.#repeat(PROBE_EVERY_MS, () => this.#probe(port));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#open);
  }

  /**
   * Returns the milliseconds between the request for each email and its arrival at the mail server, or infinity if it
   * never arrived.
   */
  arrivals(entries: readonly ArrivalEntry[]): readonly { readonly of: Sample['of']; readonly ms: number }[] {
    const arrived = new Map(entries.map(({ recipient, at }) => [recipient, at]));
    return this.samples.map(({ of: path, to, began_at }) => {
      const at = arrived.get(to);
      return { of: path, ms: at === undefined ? Number.POSITIVE_INFINITY : at - began_at };
    });
  }

  #repeat(every_ms: number, action: (to: string) => Promise<void>): void {
    void (async () => {
      for (let due = performance.now(); !this.#stopped; due += every_ms) {
        await pause(Math.max(0, due - performance.now()));
        const acting: Promise<void> = action(`n${this.#serial++}@${this.#domain}`).finally(() =>
          this.#open.delete(acting),
        );
        this.#open.add(acting);
      }
    })();
  }

  async #post(path: Sample['of'], to: string, text: string): Promise<void> {
    const { from, secret } = this.#account;
    const port = this.#endpoints.ports[this.#serial % this.#endpoints.ports.length];
    await this.#sample(path, to, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from, to, subject: 'Your order', text }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.text();
      return response.status;
    });
  }

  async #submit(to: string): Promise<void> {
    const { from, secret } = this.#account;
    const port = this.#endpoints.submission_ports[this.#serial % this.#endpoints.submission_ports.length];
    await this.#sample('smtp', to, async () => {
      const auth = { user: 'api', pass: secret };
      const transport = createTransport({ host: '127.0.0.1', port, auth, socketTimeout: TIMEOUT_MS });
      return transport.sendMail({ from, to, subject: 'Your order', text: 'Your order has left.' }).then(
        ({ response }) => Number(response.slice(0, 3)),
        ({ responseCode }: { readonly responseCode?: number }) => responseCode ?? null,
      );
    });
  }

  async #sample(path: Sample['of'], to: string, ask: () => Promise<number | null>): Promise<void> {
    const began_at = wallTime();
    const began = performance.now();
    const code = await ask().catch(() => null);
    this.samples.push({ of: path, to, began_at, took_ms: performance.now() - began, code });
  }

  async #probe(port: number): Promise<void> {
    const at = wallTime();
    const began = performance.now();
    const ok = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      .then(async (response) => {
        await response.text();
        return response.ok;
      })
      .catch(() => false);
    this.probes.push({ at, took_ms: performance.now() - began, ok });
  }
}
