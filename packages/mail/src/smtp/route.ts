import { isIP, type Socket } from 'node:net';
import type { TlsPolicy } from '../outcome/send-outcome.ts';

/** A way to reach a server: its address, the name on its certificate, and how the session is secured. */
export interface SmtpRoute {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  readonly tls: 'opportunistic' | 'required' | 'none';
  /** The certificate must be valid, and nothing is sent without TLS. */
  readonly checked: boolean;
  /** The TLS policy that is recorded with the attempt. */
  readonly tls_policy: TlsPolicy;
  /** The address that `dial` connects to. */
  readonly address?: string;
  /** Opens the socket. Without it, the system resolves the host and dials. */
  readonly dial?: (signal: AbortSignal) => Promise<DialResult>;
  /** Called when the server accepted the connection but sent nothing. */
  readonly noteSilent?: () => void;
}

export type DialResult =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly error: string };

/** Resolves and dials the hosts of relays in place of the system. */
export interface Dialer {
  /** Returns the addresses of a host that may be connected to. */
  addressesOf(host: string): Promise<readonly string[]>;
  /** Never rejects. */
  dial(host: string, port: number, signal: AbortSignal): Promise<DialResult>;
}

export interface SmtpRoutes {
  readonly ranked: readonly SmtpRoute[];
  /** The reasons why other routes were skipped. */
  readonly notes: readonly string[];
}

/** Formats the host and port for logs. */
export function targetOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
