import type { Services } from '@postrider/core';
import { renewLeases, showAttempts } from '@postrider/core/delivery';
import type { Lanes } from '../lanes/lanes.ts';
import { repeatEvery } from '../repeat-task.ts';
import type { InFlight } from './in-flight.ts';
import type { InFlightSet } from './in-flight-set.ts';
import { leaseEnd, leaseLost } from './leases.ts';

const RENEW_MS = 5000;
// Attempts that take longer than this are shown in the status of their messages while they run.
const SHOW_MS = 250;
const LEASE_CHECK_MS = 1000;

/** Renews leases and job heartbeats while messages are in flight, and marks long attempts in the database. */
export class LeaseLoops {
  readonly #services: Services;
  readonly #inFlight: InFlightSet<InFlight>;
  readonly #lanes: Lanes;
  readonly #cancel: (entry: InFlight) => void;
  readonly #renewer: ReturnType<typeof repeatEvery>;
  readonly #shower: ReturnType<typeof repeatEvery>;
  readonly #expirer: NodeJS.Timeout;

  constructor(services: Services, inFlight: InFlightSet<InFlight>, lanes: Lanes, cancel: (entry: InFlight) => void) {
    this.#services = services;
    this.#inFlight = inFlight;
    this.#lanes = lanes;
    this.#cancel = cancel;
    this.#renewer = repeatEvery(RENEW_MS, () => this.#renew(), services);
    // Uses a separate timer, because the other loop awaits the database, which may not respond.
    this.#expirer = setInterval(() => this.#expire(), LEASE_CHECK_MS);
    this.#shower = repeatEvery(SHOW_MS, () => this.#show(), services);
  }

  async stop(): Promise<void> {
    clearInterval(this.#expirer);
    await this.#renewer.stop();
    await this.#shower.stop();
  }

  /** Renews the leases of claimed deliveries, and the heartbeats of their jobs and of jobs that wait for a claim. */
  async #renew(): Promise<void> {
    const { sql, jobs } = this.#services;
    const attempts = [...this.#inFlight];
    const waiting = this.#lanes.waiting().map(({ job }) => job);
    if (attempts.length + waiting.length === 0) return;
    const started_at = performance.now();
    const renewed = await renewLeases(
      sql,
      attempts.map(({ claimed: { delivery, lease } }) => ({
        workspace_id: delivery.workspace_id,
        message_id: delivery.message_id,
        recipient_id: delivery.recipient_id,
        lease,
      })),
    );
    // A delivery that lost its lease must not reach the end of DATA, because another worker may be sending the same
    // copy. A renewal counts from its start, because the time of its commit is unknown.
    for (const entry of attempts) {
      if (entry.has_result) continue;
      if (!renewed.has(entry.claimed.lease)) this.#cancel(entry);
      else entry.lease_ends = leaseEnd(started_at);
    }
    await jobs.touch('delivery.attempt', [...attempts.map(({ claimed }) => claimed.job), ...waiting]);
  }

  #expire(): void {
    for (const entry of leaseLost(this.#inFlight, performance.now())) this.#cancel(entry);
  }

  async #show(): Promise<void> {
    const now = performance.now();
    const lasting = [...this.#inFlight].filter(
      (entry) => !entry.has_result && !entry.is_visible && now - entry.started >= SHOW_MS,
    );
    if (lasting.length === 0) return;
    for (const entry of lasting) entry.is_visible = true;
    await showAttempts(
      this.#services.sql,
      lasting.map(({ claimed }) => claimed.job.data),
    );
  }
}
