import { lookup } from 'node:dns/promises';
import { replyLine } from '../outcome/reply.ts';
import type { TlsFacts } from '../outcome/send-outcome.ts';
import { type SmtpTransportOptions, sessionOf } from './client.ts';
import { type HandshakeStep, openSession } from './open-session.ts';
import { discard, sendCommand } from './session.ts';
import { DEFAULT_TIMEOUTS } from './timeouts.ts';

export interface ConnectionTest {
  /** Empty if the host could not be resolved. */
  readonly addresses: readonly string[];
  /** Where the test stopped; null if the server is ready to accept email. */
  readonly failed_at: 'dns' | HandshakeStep | null;
  /** What the server replied or what went wrong; null unless it failed. */
  readonly problem: string | null;
  /** Null without TLS. */
  readonly tls: TlsFacts | null;
}

const UNWATCHED = { idled: () => undefined, ended: () => undefined };

/** Resolves, connects, upgrades to TLS and signs in like a delivery, and sends nothing. */
export async function testConnection(options: SmtpTransportOptions, signal: AbortSignal): Promise<ConnectionTest> {
  const addresses = await (options.dialer?.addressesOf ?? addressesOf)(options.host);
  if (addresses.length === 0)
    return { addresses, failed_at: 'dns', problem: `${options.host} has no address.`, tls: null };
  const settings = { ...sessionOf(options), timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts } };
  const opened = await openSession(settings, UNWATCHED, signal);
  if (!opened.ok) {
    const problem = opened.reply ? replyLine(opened.reply) : opened.error;
    return { addresses, failed_at: opened.failed_at, problem, tls: null };
  }
  const { session } = opened;
  sendCommand(session, 'QUIT');
  discard(session);
  return { addresses, failed_at: null, problem: null, tls: session.tls };
}

/** Asks the system's resolver, which also knows names of this network. */
async function addressesOf(host: string): Promise<string[]> {
  const entries = await lookup(host, { all: true }).catch(() => []);
  return entries.map(({ address }) => address);
}
