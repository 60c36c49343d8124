import { hostname } from 'node:os';
import {
  createGuardedDialer,
  createMailer,
  createMxTransport,
  createSimulatorMailer,
  createSmtpTransport,
  DEFAULT_TIMEOUTS,
  type Dialer,
  type Mailer,
  type SmtpTimeouts,
  type SmtpTransportOptions,
  targetOf,
} from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { Transport } from '../process/config.ts';
import { egressOf } from '../process/egress.ts';
import { signingFor, type TransportRow, transportPurpose } from '../transports/index.ts';
import type { Mailers, Sender } from './attempt.ts';
import { PLAIN_FORM, RELAY_FORM } from './render.ts';
import { stsPolicyStore } from './sts-policies.ts';

/** The address of the simulator on this machine. */
export interface SimulatorAddress {
  readonly host: string;
  readonly port: number;
}

/** Returns whether messages of a mode go to the test inbox instead of a mail server. */
export function isCaptured({ DELIVERY }: Pick<Services['config'], 'DELIVERY'>, mode: KeyMode): boolean {
  return mode === 'sandbox' || DELIVERY.some((transport) => transport.kind === 'capture');
}

/**
 * Creates the mailers. Sandbox keys, and all keys with DELIVERY=capture, send to the simulator over SMTP; other
 * messages use the transports of DELIVERY in order.
 */
export function createMailers(
  services: Pick<Services, 'config' | 'log' | 'sql'>,
  simulator: SimulatorAddress,
): Mailers {
  const { config } = services;
  const sandbox = createSimulatorMailer({ ...simulator, helo_name: config.HELO_NAME ?? 'localhost' });
  return { sandbox, live: isCaptured(config, 'live') ? sandbox : createDefaultMailer(services) };
}

/** Creates the mailer of DELIVERY, unless that is the test inbox. */
export function createDefaultMailer(services: Pick<Services, 'config' | 'log' | 'sql'>): Mailer {
  const helo_name = heloName(services);
  return createMailer({
    helo_name,
    transports: services.config.DELIVERY.flatMap((transport) => liveTransport(services, transport, helo_name)),
  });
}

/** Creates the mailer of a transport. Throws a DecryptionError if no key of this process decrypts its password. */
export function createTransportMailer(
  services: Pick<Services, 'config' | 'log' | 'sql' | 'encryption'>,
  row: TransportRow,
): Mailer {
  if (row.kind === 'mx') return mxTransport(services, heloName(services));
  const mailer = createSmtpTransport(relayOfRow(services, row));
  // A relay of a workspace is a stranger's server, and paced like one.
  return row.workspace_id === null ? mailer : { ...mailer, width: undefined };
}

/** Returns the relay of an smtp transport. Throws a DecryptionError like createTransportMailer. */
export function relayOfRow(
  services: Pick<Services, 'config' | 'log' | 'encryption'>,
  { id, workspace_id, host, port, tls, username, password }: TransportRow,
): SmtpTransportOptions {
  const plain = password && services.encryption.decrypt(password, transportPurpose(id)).toString();
  const relay = { host: host ?? '', port: port ?? 0, user: username ?? '', pass: plain ?? '' };
  const secure = tls === 'implicit';
  const policy = tls === 'starttls' || secure ? 'required' : (tls ?? 'required');
  const helo_name = heloName(services);
  const options = { ...relayTransport(services.config, { ...relay, secure, tls: policy }), helo_name };
  if (workspace_id === null) return options;
  const { config } = services;
  const max_connections = config.LIMITS.site_connections;
  return { ...options, max_connections, timeouts: timeoutsOf(config, 'smtp'), dialer: dialerFor(config) };
}

/** Returns what connects to the relays of workspaces: they reach what webhooks may reach. */
function dialerFor(config: Services['config']): Dialer {
  const { dns_answer, smtp_dial } = config.LIMITS;
  return createGuardedDialer({ ...egressOf(config), dns_timeout_ms: dns_answer, dial_timeout_ms: smtp_dial });
}

/** Returns the relays in DELIVERY. */
export function relaysOfDelivery(services: Pick<Services, 'config' | 'log'>): SmtpTransportOptions[] {
  const helo_name = heloName(services);
  return services.config.DELIVERY.flatMap((transport) =>
    transport.kind === 'smtp' ? [{ ...deliveryRelay(services.config, transport), helo_name }] : [],
  );
}

/** Returns what sends the email of a transport. */
export function senderOfRow(row: TransportRow, mailer: Mailer): Sender {
  const { kind, signing, headers, envelope_from } = row;
  // The cast is safe because headers are stored as JSON of the schema's output.
  const added = Object.entries(JSON.parse(headers) as Record<string, string>);
  const form = {
    signing,
    strips_steering: kind === 'smtp',
    added: added.map(([name, value]) => `${name}: ${value}\r\n`).join(''),
  };
  // Workspaces may have any number of transports together, and a label may not.
  const relays = kind === 'smtp' ? 'all' : new Set<string>();
  return { mailer, form, envelope_from, relays, label: row.workspace_id === null ? row.id : 'workspace' };
}

/** Returns what sends the email of DELIVERY. If it lists several ways, all get the form of the relay among them. */
export function defaultSender({ config }: Pick<Services, 'config'>, mailer: Mailer): Sender {
  const relay = config.DELIVERY.find((transport) => transport.kind === 'smtp');
  const form = relay ? { ...RELAY_FORM, signing: signingFor(relay.host) } : PLAIN_FORM;
  const targets = config.DELIVERY.flatMap((one) => (one.kind === 'smtp' ? [targetOf(one)] : []));
  const relays = targets.length === config.DELIVERY.length ? 'all' : new Set(targets);
  return { mailer, form, envelope_from: 'ours', relays };
}

function liveTransport(
  services: Pick<Services, 'config' | 'log' | 'sql'>,
  transport: Transport,
  helo_name: string,
): Parameters<typeof createMailer>[0]['transports'] {
  switch (transport.kind) {
    case 'capture':
      return [];
    case 'mx':
      return [mxTransport(services, helo_name)];
    case 'smtp':
      return [deliveryRelay(services.config, transport)];
  }
}

/** Returns a relay in DELIVERY. With credentials, the client requires a verified certificate. */
function deliveryRelay(config: Services['config'], relay: Omit<Relay, 'tls'>) {
  return relayTransport(config, { ...relay, tls: 'opportunistic' });
}

function mxTransport(services: Pick<Services, 'config' | 'log' | 'sql'>, helo_name: string): Mailer {
  const { config } = services;
  return createMxTransport({
    dns_servers: config.DNS_SERVERS,
    port: config.MX_PORT,
    allow_networks: config.MX_ALLOW_NETWORKS,
    helo_name,
    max_connections: config.LIMITS.site_connections,
    dns_timeout_ms: config.LIMITS.dns_answer,
    dial_timeout_ms: config.LIMITS.smtp_dial,
    timeouts: timeoutsOf(config, 'smtp'),
    policy_store: stsPolicyStore(services),
  });
}

interface Relay {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly tls: 'opportunistic' | 'required' | 'none';
  readonly user: string;
  readonly pass: string;
}

function relayTransport(config: Services['config'], { host, port, secure, tls, user, pass }: Relay) {
  return {
    host,
    port,
    secure,
    tls,
    // A relay is dedicated to this service; Postfix allows 50 by default and replies 421 to more.
    max_connections: config.LIMITS.relay_connections,
    timeouts: timeoutsOf(config, 'relay'),
    ...(user !== '' && { user, pass }),
  };
}

/**
 * Returns the timeouts for a purpose. Remote servers may be as slow as RFC 5321 allows; a relay is expected to reply
 * sooner, except after the content.
 */
function timeoutsOf({ LIMITS }: Services['config'], purpose: 'smtp' | 'relay'): SmtpTimeouts {
  return {
    greeting_ms: LIMITS[`${purpose}_greeting`],
    command_ms: LIMITS[`${purpose}_command`],
    data_ms: purpose === 'smtp' ? LIMITS.smtp_data : LIMITS.relay_command,
    block_ms: LIMITS.smtp_block,
    after_dot_ms: LIMITS.smtp_after_dot,
    prompt_ms: DEFAULT_TIMEOUTS.prompt_ms,
    idle_ms: LIMITS.smtp_idle,
  };
}

/** Returns the EHLO name, and warns if it is unusable. Public servers check the name; a private relay rarely does. */
function heloName({ config, log }: Pick<Services, 'config' | 'log'>): string {
  const to_strangers = config.DELIVERY.some((transport) => transport.kind === 'mx');
  const name = config.HELO_NAME ?? (to_strangers ? hostname() : 'localhost');
  if (to_strangers && !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(name)) {
    log.warn(
      { helo_name: name },
      "the EHLO name is not fully qualified, and many servers reject that: set HELO_NAME to the host name that this machine's IP address resolves to",
    );
  }
  return name;
}

/** Closes the connections of these mailers, which may be the same instance. */
export async function stopMailers(mailers: Mailers): Promise<void> {
  await Promise.all([...new Set<Mailer>(Object.values(mailers))].map((mailer) => mailer.stop()));
}
