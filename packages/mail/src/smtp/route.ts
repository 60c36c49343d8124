import type { Socket } from 'node:net';
import type { TlsPolicy } from '../send-outcome.ts';

/** One way to a server: where it is, by what name it proves itself, and how a session with it is secured. */
export interface SmtpRoute {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  readonly tls: 'opportunistic' | 'required' | 'none';
  /** The certificate has to be good, and nothing is sent without TLS. */
  readonly checked: boolean;
  /** What the attempt says decided this. */
  readonly tls_policy: TlsPolicy;
  /** The address behind `dial`. */
  readonly address?: string;
  /** Opens the socket. Without it the system resolves the host and dials. */
  readonly dial?: (signal: AbortSignal) => Promise<Dialled>;
}

export type Dialled = { readonly ok: true; readonly socket: Socket } | { readonly ok: false; readonly error: string };

export interface SmtpRoutes {
  readonly ranked: readonly SmtpRoute[];
  /** Why other routes are not among them. */
  readonly notes: readonly string[];
}
