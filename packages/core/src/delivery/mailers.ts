import { hostname } from 'node:os';
import {
  createMailer,
  createMxTransport,
  createSimulatorMailer,
  createSmtpTransport,
  DEFAULT_TIMEOUTS,
  type Mailer,
  type SmtpTimeouts,
} from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { Transport } from '../process/config.ts';
import { type TransportRow, transportPurpose } from '../transports/index.ts';
import type { Mailers } from './attempt.ts';
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
  if (isCaptured(config, 'live')) return { sandbox, live: sandbox };
  const helo_name = heloName(services);
  return {
    sandbox,
    live: createMailer({
      helo_name,
      transports: config.DELIVERY.flatMap((transport) => liveTransport(services, transport, helo_name)),
    }),
  };
}

/** Creates the mailer of a transport. Throws a DecryptionError if no key of this process decrypts its password. */
export function createTransportMailer(
  services: Pick<Services, 'config' | 'log' | 'sql' | 'encryption'>,
  { id, kind, host, port, tls, username, password }: TransportRow,
): Mailer {
  const helo_name = heloName(services);
  if (kind === 'mx') return mxTransport(services, helo_name);
  const plain = password && services.encryption.decrypt(password, transportPurpose(id)).toString();
  const relay = { host: host ?? '', port: port ?? 0, user: username ?? '', pass: plain ?? '' };
  const secure = tls === 'implicit';
  const policy = tls === 'starttls' || secure ? 'required' : (tls ?? 'required');
  return createSmtpTransport({ ...relayTransport(services.config, { ...relay, secure, tls: policy }), helo_name });
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
      // With credentials the client requires a verified certificate.
      return [relayTransport(services.config, { ...transport, tls: 'opportunistic' })];
  }
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
