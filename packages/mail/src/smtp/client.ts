import { domainOf } from '../address/domain-of.ts';
import type { Mailer } from '../outcome/send-outcome.ts';
import type { SessionSettings } from './open-session.ts';
import { type Dialer, type SmtpRoute, type SmtpRoutes, targetOf } from './route.ts';
import { createSessionPool } from './session-pool.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export interface SmtpTransportOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte, as on port 465. The certificate is verified unless the server is this machine. */
  readonly secure: boolean;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly helo_name: string;
  readonly max_connections: number;
  /**
   * opportunistic: STARTTLS if offered, without verifying the certificate. required: always, with a verified
   * certificate. none: never. A login requires a verified certificate and never uses plaintext, unless `tls` is none or
   * the server is this machine.
   */
  readonly tls: 'opportunistic' | 'required' | 'none';
  /** One lane for the whole host, as behind a relay, or one for each recipient domain. */
  readonly lane_by?: 'host' | 'domain' | undefined;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
  /** Without it, the system resolves the host and dials. */
  readonly dialer?: Dialer | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

export function isThisMachine(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Creates a transport that sends to one host over persistent connections, with one recipient per transaction. */
export function createSmtpTransport(options: SmtpTransportOptions): Mailer {
  const { max_connections, timeouts } = options;
  const target = targetOf(options);
  const pool = createSessionPool({
    ...sessionOf(options),
    max_connections,
    timeouts,
    pipelines: true,
    laneOf: (to) => (options.lane_by === 'domain' ? domainOf(to) : target),
  });
  // Each connection to a relay carries one message and the pipelined envelope of the next.
  return { ...pool, width: 2 * max_connections };
}

/** Returns how a session with the host is opened. */
export function sessionOf({
  host,
  port,
  secure,
  user,
  pass,
  helo_name,
  tls,
  dialer,
}: SmtpTransportOptions): Omit<SessionSettings, 'timeouts'> {
  const on_this_machine = isThisMachine(host);
  // Implicit TLS or a password only makes sense if the server is known to be the right one.
  const relies = (secure || Boolean(user)) && !on_this_machine && tls !== 'none';
  const checked = tls === 'required' || relies;
  const tls_policy = checked || secure ? 'required' : tls;
  const route: SmtpRoute = {
    ...{ host, port, secure, tls, checked, tls_policy },
    ...(dialer && { dial: (signal) => dialer.dial(host, port, signal) }),
  };
  const routes: SmtpRoutes = { ranked: [route], notes: [] };
  return {
    routes: () => routes,
    login: user ? { user, pass: pass ?? '', in_plaintext: tls === 'none' || on_this_machine } : undefined,
    helo_name,
  };
}
