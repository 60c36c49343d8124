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
import { feedbackOfSender } from '@postrider/core/feedback';
import { isHoldLane, transportLane, transportOfLane } from '@postrider/core/lanes';
import {
  allRules,
  allTransports,
  changedWorkspaces,
  DEFAULT_TRANSPORT,
  noteJudged,
  type RoutedEmail,
  type RuleRow,
  routeOf,
  rulesOfWorkspaces,
  type TransportRow,
  transportsOfWorkspaces,
  transportsVersion,
} from '@postrider/core/transports';
import { domainOf, type Mailer } from '@postrider/mail';

interface OpenTransport {
  /** The settings that the mailer was created with. */
  readonly fingerprint: string;
  readonly sender: Sender;
}

/** The lane of email whose transport has been deleted or cannot be used here; such email is not sent. */
const NOWHERE = 'nowhere';

/** The transports of this worker, and the rules that choose among them. Reads changes when polled. */
export class TransportSet {
  readonly #services: Services;
  readonly #sandbox: Sender;
  readonly #default: Sender;
  readonly #rows = new Map<string, TransportRow>();
  /** The transports that have been used; null: its password cannot be decrypted. */
  readonly #open = new Map<string, OpenTransport | null>();
  readonly #stopping = new Set<Promise<void>>();
  #instance_rules: readonly RuleRow[] = [];
  readonly #own_rules = new Map<string, readonly RuleRow[]>();
  /** The versions in use; null before the first poll. */
  #version: string | null = null;
  #workspace_version: string | null = null;
  #judged = true;
  /** Workspaces whose parked email has to be judged by their changed rules. */
  readonly #unjudged = new Set<string>();
  /** Set by a poll that found a change, until it is applied. */
  #has_changed = false;
  #has_new_limits = false;

  constructor(services: Services, mailers: Mailers) {
    this.#services = services;
    this.#sandbox = { mailer: mailers.sandbox, form: PLAIN_FORM, envelope_from: 'ours', relays: new Set() };
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
    const { version, judged, workspace_version } = await transportsVersion(sql);
    // A workspace's rules first, because the version says whether any rule can be followed.
    if (workspace_version !== this.#workspace_version) await this.#pollWorkspaces(workspace_version);
    // A worker that was running may have parked email by the old rules until now.
    if (!judged || (this.#version !== null && version !== this.#version)) this.#judged = false;
    if (version === this.#version) return;
    const [rows, rules] = await Promise.all([allTransports(sql), allRules(sql)]);
    this.#replaceRows((row) => row.workspace_id === null, rows);
    this.#instance_rules = rules;
    this.#version = version;
    this.#has_changed = true;
  }

  /** Reads the transports and rules of the workspaces that have changed any. */
  async #pollWorkspaces(version: string): Promise<void> {
    const { sql } = this.#services;
    const workspace_ids = new Set(await changedWorkspaces(sql, this.#workspace_version ?? '0'));
    const [rows, rules] = await Promise.all([
      transportsOfWorkspaces(sql, [...workspace_ids]),
      rulesOfWorkspaces(sql, [...workspace_ids]),
    ]);
    this.#replaceRows(({ workspace_id }) => workspace_id !== null && workspace_ids.has(workspace_id), rows);
    const by_workspace = Map.groupBy(rules, ({ workspace_id }) => workspace_id);
    for (const id of workspace_ids) {
      const own = by_workspace.get(id);
      if (own) this.#own_rules.set(id, own);
      else this.#own_rules.delete(id);
      // What is parked at the start is judged when it is resumed.
      if (this.#workspace_version !== null) this.#unjudged.add(id);
    }
    this.#workspace_version = version;
    this.#has_new_limits = true;
  }

  /** Returns whether transports or rules have changed since the last call. */
  takeChange(): boolean {
    const has_changed = this.#has_changed;
    this.#has_changed = false;
    return has_changed;
  }

  /** Returns whether the limits of a workspace's transports may have changed since the last call. */
  takeNewLimits(): boolean {
    const has_new_limits = this.#has_new_limits;
    this.#has_new_limits = false;
    return has_new_limits;
  }

  hasUnjudgedWorkspaces(): boolean {
    return this.#unjudged.size > 0;
  }

  /** Returns a workspace whose parked email has to be judged by its changed rules, once; null if there is none. */
  takeUnjudged(): string | null {
    const [id = null] = this.#unjudged;
    if (id !== null) this.#unjudged.delete(id);
    return id;
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
    const route = this.#routeOf(email);
    // A transport that cannot be opened here is passed over, unless there is no other.
    const usable = route.filter((id) => this.#senderOf(id) !== null);
    return (usable.length > 0 ? usable : route).map((id) => {
      const destination = isLimited(domain) ? domain : this.#senderOf(id)?.mailer.laneOf(email.email);
      return transportLane(destination ?? NOWHERE, id);
    });
  }

  /** Returns whether the rules allow a lane for a live email. */
  allows(email: RoutedEmail, lane: string): boolean {
    return isHoldLane(lane) || this.#routeOf(email).includes(transportOfLane(lane));
  }

  /** Returns what sends the email of a lane; null if its transport has been deleted. */
  senderFor(lane: string, mode: keyof Mailers): Sender | null {
    return mode === 'sandbox' ? this.#sandbox : this.#senderOf(transportOfLane(lane));
  }

  /** Returns whether the transport of a lane has a rate limit. */
  isLimited(lane: string): boolean {
    const row = this.#rows.get(transportOfLane(lane));
    return row !== undefined && (row.messages_per_minute !== null || row.messages_per_day !== null);
  }

  /** Returns the limit of concurrent emails in a lane of a transport; null if it has none of its own. */
  connectionsOf(lane: string): number | null {
    return this.#rows.get(transportOfLane(lane))?.max_connections ?? null;
  }

  limitsConnections(): boolean {
    return [...this.#rows.values()].some(({ max_connections }) => max_connections !== null);
  }

  /** Closes the connections of the transports that this set has opened. */
  async stop(): Promise<void> {
    for (const transport of this.#open.values()) if (transport) this.#close(transport.sender);
    this.#open.clear();
    this.#rows.clear();
    await Promise.all(this.#stopping);
  }

  /** Returns the route of an email. Whatever a rule says, a workspace's transport carries no email of another. */
  #routeOf(email: RoutedEmail): readonly string[] {
    const route = routeOf({ instance: this.#instance_rules, own: this.#own_rules }, email);
    return route.every((id) => this.#mayCarry(id, email))
      ? route
      : [...new Set([...route.filter((id) => this.#mayCarry(id, email)), DEFAULT_TRANSPORT])];
  }

  #mayCarry(id: string, { workspace_id }: RoutedEmail): boolean {
    const owner_id = this.#rows.get(id)?.workspace_id ?? null;
    return owner_id === null || owner_id === workspace_id;
  }

  #senderOf(id: string): Sender | null {
    if (id === DEFAULT_TRANSPORT) return this.#default;
    const row = this.#rows.get(id);
    if (!row) return null;
    let transport = this.#open.get(id);
    if (transport === undefined) {
      transport = this.#openRow(row);
      this.#open.set(id, transport);
    }
    return transport?.sender ?? null;
  }

  #openRow(row: TransportRow): OpenTransport | null {
    try {
      const sender = this.#senderWith(row, createTransportMailer(this.#services, row));
      return { fingerprint: fingerprintOf(row), sender };
    } catch (error) {
      this.#services.log.error({ err: error, transport_id: row.id }, 'failed to open a transport');
      return null;
    }
  }

  #senderWith(row: TransportRow, mailer: Mailer): Sender {
    return { ...senderOfRow(row, mailer), ...feedbackOfSender(this.#services, row) };
  }

  /** Replaces the rows of an owner. Transports whose connection settings stay the same keep their connections. */
  #replaceRows(isOwned: (row: TransportRow) => boolean, rows: readonly TransportRow[]): void {
    const next = new Map(rows.map((row) => [row.id, row]));
    for (const row of this.#rows.values()) if (isOwned(row) && !next.has(row.id)) this.#drop(row.id);
    for (const row of rows) {
      const { id } = row;
      const open = this.#open.get(id);
      if (open?.fingerprint === fingerprintOf(row))
        this.#open.set(id, { ...open, sender: this.#senderWith(row, open.sender.mailer) });
      else this.#drop(id);
      this.#rows.set(id, row);
    }
  }

  #drop(id: string): void {
    const open = this.#open.get(id);
    if (open) this.#close(open.sender);
    this.#open.delete(id);
    this.#rows.delete(id);
  }

  /** Lets running sends finish. */
  #close({ mailer }: Sender): void {
    const stopping: Promise<void> = mailer.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

function fingerprintOf({ kind, host, port, tls, username, password }: TransportRow): string {
  return JSON.stringify([kind, host, port, tls, username, password?.toString('hex')]);
}
