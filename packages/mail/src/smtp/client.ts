import { domainOf } from '../address/domain-of.ts';
import type { Mailer } from '../outcome/send-outcome.ts';
import { type SmtpRoutes, targetOf } from './route.ts';
import { createSessionPool } from './session-pool.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export interface SmtpTransportOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte, as on port 465; the certificate is checked unless the server is this machine. */
  readonly secure: boolean;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly helo_name: string;
  readonly max_connections: number;
  /**
   * STARTTLS if offered, certificate not checked; always, and checked; never. A login asks for a checked
   * certificate and refuses plaintext in any case, unless this says none or the server is this machine.
   */
  readonly tls: 'opportunistic' | 'required' | 'none';
  /** One lane for the whole host, as behind a relay, or one for each recipient domain. */
  readonly lane_by?: 'host' | 'domain' | undefined;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Sends to one host over kept connections, one recipient per transaction. */
export function createSmtpTransport(options: SmtpTransportOptions): Mailer {
  const { host, port, secure, user, pass, helo_name, max_connections, timeouts } = options;
  const target = targetOf({ host, port });
  const on_this_machine = LOOPBACK.test(host);
  // Who asks for TLS from the first byte, or sends a password, relies on the server being the right one.
  const relies = (secure || Boolean(user)) && !on_this_machine && options.tls !== 'none';
  const checked = options.tls === 'required' || relies;
  const tls_policy = checked || secure ? 'required' : options.tls;
  const routes: SmtpRoutes = { ranked: [{ host, port, secure, tls: options.tls, checked, tls_policy }], notes: [] };
  const pool = createSessionPool({
    routes: () => routes,
    login: user ? { user, pass: pass ?? '', in_plaintext: options.tls === 'none' || on_this_machine } : undefined,
    helo_name,
    max_connections,
    timeouts,
    pipelines: true,
    laneOf: (to) => (options.lane_by === 'domain' ? domainOf(to) : target),
  });
  // A relay takes a mail on each connection, and on each the envelope of the next.
  return { ...pool, width: 2 * max_connections };
}
