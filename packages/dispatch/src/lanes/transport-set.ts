import type { Services } from '@postrider/core';
import {
  createTransportMailer,
  defaultSender,
  isCaptured,
  type Mailers,
  PLAIN_FORM,
  type Sender,
  senderOfRow,
} from '@postrider/core/delivery';
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
import { domainOf } from '@postrider/mail';

interface OpenTransport {
  /** The settings that the mailer was created with. */
  readonly fingerprint: string;
  readonly sender: Sender;
  readonly limits: TransportLimits;
}

interface TransportLimits {
  readonly connections: number | null;
  readonly per_minute: number | null;
  readonly per_day: number | null;
}

/** The lane of email whose transport has been deleted or cannot be used here; such email is not sent. */
const NOWHERE = 'nowhere';

/** The transports of this worker, and the rules that choose among them. Reads changes when polled. */
export class TransportSet {
  readonly #services: Services;
  readonly #sandbox: Sender;
  readonly #default: Sender;
  readonly #open = new Map<string, OpenTransport>();
  readonly #stopping = new Set<Promise<void>>();
  #rules: readonly RuleRow[] = [];
  /** The version of the transports and rules in use; null before the first poll. */
  #version: string | null = null;
  #judged = true;
  /** Set by a poll that found a change, until it is applied. */
  #has_changed = false;

  constructor(services: Services, mailers: Mailers) {
    this.#services = services;
    this.#sandbox = { mailer: mailers.sandbox, form: PLAIN_FORM, envelope_from: 'ours' };
    this.#default = defaultSender(services, mailers.live);
  }

  /** Returns whether rules can be followed: they have been read, or nothing leaves the machine. */
  isReady(): boolean {
    return this.#version !== null || isCaptured(this.#services.config, 'live');
  }

  /** Reads the transports and rules if they have changed. */
  async poll(): Promise<void> {
    // The test inbox takes everything, so that nothing leaves the machine.
    if (isCaptured(this.#services.config, 'live')) return;
    const { sql } = this.#services;
    const { version, judged } = await transportsVersion(sql);
    // A worker that was running may have parked email by the old rules until now.
    if (!judged || (this.#version !== null && version !== this.#version)) this.#judged = false;
    if (version === this.#version) return;
    const [rows, rules] = await Promise.all([allTransports(sql), allRules(sql)]);
    this.#replaceTransports(rows);
    this.#rules = rules;
    this.#version = version;
    this.#has_changed = true;
  }

  /** Returns whether transports or rules have changed since the last call. */
  takeChange(): boolean {
    const has_changed = this.#has_changed;
    this.#has_changed = false;
    return has_changed;
  }

  /** Returns whether parked email has to be judged by the rules in use. */
  hasUnjudged(): boolean {
    return !this.#judged;
  }

  /** Returns the version of the rules in use, to pass to `noteJudged`. */
  version(): string | null {
    return this.#version;
  }

  /** Records that all parked email has been judged by a version of the rules. */
  async noteJudged(version: string | null): Promise<void> {
    if (version === null) return;
    if (version === this.#version) this.#judged = true;
    await noteJudged(this.#services.sql, version);
  }

  /** Returns the lanes of a live email, in order of preference. A limited domain has a lane of its own. */
  lanesOf(email: RoutedEmail, isLimited: (domain: string) => boolean): string[] {
    const domain = domainOf(email.email);
    const route = routeOf(this.#rules, email);
    // A transport that cannot be opened here is passed over, unless there is no other.
    const usable = route.filter((id) => this.#senderOf(id) !== null);
    return (usable.length > 0 ? usable : route).map((id) => {
      const destination = isLimited(domain) ? domain : this.#senderOf(id)?.mailer.laneOf(email.email);
      return transportLane(destination ?? NOWHERE, id);
    });
  }

  /** Returns whether the rules allow a lane for a live email. */
  allows(email: RoutedEmail, lane: string): boolean {
    return isHoldLane(lane) || routeOf(this.#rules, email).includes(transportOfLane(lane));
  }

  /** Returns what sends the email of a lane; null if its transport has been deleted. */
  senderFor(lane: string, mode: keyof Mailers): Sender | null {
    return mode === 'sandbox' ? this.#sandbox : this.#senderOf(transportOfLane(lane));
  }

  /** Returns whether the transport of a lane has a rate limit. */
  isLimited(lane: string): boolean {
    const limits = this.#open.get(transportOfLane(lane))?.limits;
    return limits !== undefined && (limits.per_minute !== null || limits.per_day !== null);
  }

  /** Returns the limit of concurrent emails in a lane of a transport; null if it has none of its own. */
  connectionsOf(lane: string): number | null {
    return this.#open.get(transportOfLane(lane))?.limits.connections ?? null;
  }

  limitsConnections(): boolean {
    return [...this.#open.values()].some(({ limits }) => limits.connections !== null);
  }

  /** Closes the connections of the transports that this set has opened. */
  async stop(): Promise<void> {
    for (const { sender } of this.#open.values()) this.#close(sender);
    this.#open.clear();
    await Promise.all(this.#stopping);
  }

  #senderOf(id: string): Sender | null {
    return id === DEFAULT_TRANSPORT ? this.#default : (this.#open.get(id)?.sender ?? null);
  }

  #replaceTransports(rows: readonly TransportRow[]): void {
    const ids = new Set(rows.map(({ id }) => id));
    for (const [id, { sender }] of this.#open) {
      if (ids.has(id)) continue;
      this.#open.delete(id);
      this.#close(sender);
    }
    for (const row of rows) {
      const { id, kind, host, port, tls, username, password } = row;
      const limits = {
        connections: row.max_connections,
        per_minute: row.messages_per_minute,
        per_day: row.messages_per_day,
      };
      const fingerprint = JSON.stringify([kind, host, port, tls, username, password?.toString('hex')]);
      const before = this.#open.get(id);
      try {
        const is_same = before?.fingerprint === fingerprint;
        const mailer = is_same ? before.sender.mailer : createTransportMailer(this.#services, row);
        if (before && !is_same) this.#close(before.sender);
        this.#open.set(id, { fingerprint, limits, sender: senderOfRow(row, mailer) });
      } catch (error) {
        if (before) this.#close(before.sender);
        this.#open.delete(id);
        this.#services.log.error({ err: error, transport_id: id }, 'failed to open a transport');
      }
    }
  }

  /** Lets running sends finish. */
  #close({ mailer }: Sender): void {
    const stopping: Promise<void> = mailer.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}
