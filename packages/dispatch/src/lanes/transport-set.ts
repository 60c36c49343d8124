import type { Services } from '@postrider/core';
import { createTransportMailer, isCaptured, type Mailers } from '@postrider/core/delivery';
import { isHoldLane, transportLane, transportOfLane } from '@postrider/core/lanes';
import {
  allRules,
  allTransports,
  DEFAULT_TRANSPORT,
  noteJudged,
  type RoutedEmail,
  type RuleRow,
  routeOf,
  type TransportRow,
  transportsVersion,
} from '@postrider/core/transports';
import { domainOf, isSimulatorLane, type Mailer } from '@postrider/mail';

interface OpenTransport {
  /** The settings that the mailer was created with. */
  readonly fingerprint: string;
  readonly mailer: Mailer;
}

/** The lane of email whose transport has been deleted or cannot be used here; such email is not sent. */
const NOWHERE = 'nowhere';

/** The transports of this worker, and the rules that choose among them. Reads changes when polled. */
export class TransportSet {
  readonly #services: Services;
  readonly #mailers: Mailers;
  readonly #open = new Map<string, OpenTransport>();
  readonly #stopping = new Set<Promise<void>>();
  #rules: readonly RuleRow[] = [];
  /** The version of the transports and rules in use; null before the first poll. */
  #version: string | null = null;
  #judged = true;

  constructor(services: Services, mailers: Mailers) {
    this.#services = services;
    this.#mailers = mailers;
  }

  /** Reads the transports and rules if they have changed. Returns whether they have. */
  async poll(): Promise<boolean> {
    // The test inbox takes everything, so that nothing leaves the machine.
    if (isCaptured(this.#services.config, 'live')) return false;
    const { sql } = this.#services;
    const { version, judged } = await transportsVersion(sql);
    this.#judged = judged;
    if (version === this.#version) return false;
    const [rows, rules] = await Promise.all([allTransports(sql), allRules(sql)]);
    this.#replaceTransports(rows);
    this.#rules = rules;
    this.#version = version;
    return true;
  }

  /** Returns whether email was parked before the last change and has not been judged by it. */
  hasUnjudged(): boolean {
    return !this.#judged;
  }

  /** Records that all parked email has been judged by the version in use. */
  async noteJudged(): Promise<void> {
    if (this.#version !== null) await noteJudged(this.#services.sql, this.#version);
  }

  /** Returns the lanes of a live email, in order of preference. A limited domain has a lane of its own. */
  lanesOf(email: RoutedEmail, isLimited: (domain: string) => boolean): string[] {
    const domain = domainOf(email.email);
    return routeOf(this.#rules, email).map((id) => {
      const destination = isLimited(domain) ? domain : this.#mailerOf(id)?.laneOf(email.email);
      return transportLane(destination ?? NOWHERE, id);
    });
  }

  /** Returns whether a rule allows a lane for an email. */
  allows(email: RoutedEmail, lane: string): boolean {
    return isHoldLane(lane) || isSimulatorLane(lane) || routeOf(this.#rules, email).includes(transportOfLane(lane));
  }

  /** Returns the mailer of a lane; null if its transport has been deleted. */
  mailerFor(lane: string, mode: keyof Mailers): Mailer | null {
    return mode === 'sandbox' ? this.#mailers.sandbox : this.#mailerOf(transportOfLane(lane));
  }

  /** Closes the connections of the transports that this set has opened. */
  async stop(): Promise<void> {
    for (const { mailer } of this.#open.values()) this.#close(mailer);
    this.#open.clear();
    await Promise.all(this.#stopping);
  }

  #mailerOf(id: string): Mailer | null {
    return id === DEFAULT_TRANSPORT ? this.#mailers.live : (this.#open.get(id)?.mailer ?? null);
  }

  #replaceTransports(rows: readonly TransportRow[]): void {
    const kept = new Set(rows.map(({ id }) => id));
    for (const [id, { mailer }] of this.#open) {
      if (kept.has(id)) continue;
      this.#open.delete(id);
      this.#close(mailer);
    }
    for (const row of rows) {
      const { id, kind, host, port, tls, username, password } = row;
      const fingerprint = JSON.stringify([kind, host, port, tls, username, password?.toString('hex')]);
      const before = this.#open.get(id);
      if (before?.fingerprint === fingerprint) continue;
      if (before) this.#close(before.mailer);
      this.#open.delete(id);
      try {
        this.#open.set(id, { fingerprint, mailer: createTransportMailer(this.#services, row) });
      } catch (error) {
        this.#services.log.error({ err: error, transport_id: id }, 'failed to open a transport');
      }
    }
  }

  /** Lets running sends finish. */
  #close(mailer: Mailer): void {
    const stopping: Promise<void> = mailer.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}
