import { readFileSync } from 'node:fs';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

const PARAMETERS = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey'];
const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

/**
 * Removes the TLS parameters from a URL and returns them as connection options, so that every driver interprets them
 * the same way.
 */
export function takeTls(url: URL): { readonly url: URL; readonly ssl: ConnectionOptions | false } {
  const bare = new URL(url);
  for (const name of PARAMETERS) bare.searchParams.delete(name);
  const mode = modeOf(url);
  if (mode === 'disable') return { url: bare, ssl: false };
  const fileOf = (name: string) => url.searchParams.get(name) || null;
  const authority = fileOf('sslrootcert');
  const [certificate, key] = [fileOf('sslcert'), fileOf('sslkey')];
  return {
    url: bare,
    ssl: {
      ...(authority !== null && authority !== 'system' && { ca: readFileSync(authority, 'utf8') }),
      ...(certificate !== null && { cert: readFileSync(certificate, 'utf8') }),
      ...(key !== null && { key: readFileSync(key, 'utf8') }),
      // As in libpq: if a CA is given, it is also checked in `require` mode.
      rejectUnauthorized: mode !== 'require' || authority !== null,
      // The name is passed here because both drivers would check the certificate of an IP address against "localhost".
      checkServerIdentity: (_name, peer) =>
        mode === 'verify-full' ? checkServerIdentity(hostOf(url), peer) : undefined,
    },
  };
}

/** Returns the problem with the TLS parameters of a URL, or null if they are valid. */
export function tlsFault(url: URL): string | null {
  const mode = wantedMode(url);
  if (mode === 'allow' || mode === 'prefer') {
    return `has sslmode=${mode}, which falls back to plaintext; write verify-full, verify-ca, require or disable`;
  }
  if (mode !== null && !isMode(mode)) return `has an sslmode that is none of ${modes.join(', ')}`;
  try {
    takeTls(url);
    return null;
  } catch (error) {
    return `names a file for TLS that cannot be read: ${error instanceof Error ? error.message : error}`;
  }
}

/** Returns whether a connection failed because the server's certificate could not be verified. */
export function isCertificateFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /CERT|UNABLE_TO_(?:GET|VERIFY)/.test(String(error.code));
}

/** Returns the TLS mode of a URL: its sslmode, or, without one, TLS whenever the traffic leaves this machine. */
function modeOf(url: URL): Mode {
  const mode = wantedMode(url);
  if (mode !== null) {
    // Unknown modes are rejected when the settings are read. Here they must not fall back to plaintext.
    return isMode(mode) ? mode : 'verify-full';
  }
  return isOnThisMachine(hostOf(url)) ? 'disable' : 'verify-full';
}

function wantedMode({ searchParams }: URL): string | null {
  const mode = searchParams.get('sslmode');
  if (mode !== null) return mode;
  if (searchParams.get('sslrootcert')) return 'verify-full';
  const ssl = searchParams.get('ssl');
  if (ssl === 'true') return 'verify-full';
  return ssl === 'false' ? 'disable' : ssl;
}

function isMode(text: string): text is Mode {
  return modes.some((mode) => mode === text);
}

const hostOf = ({ hostname }: URL) => decodeURIComponent(hostname).replace(/^\[|\]$/g, '');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns whether a host is on this machine: loopback, or the directory of a socket. */
function isOnThisMachine(host: string): boolean {
  if (isIPv4(host)) return loopback.check(host, 'ipv4');
  if (isIPv6(host)) return loopback.check(host, 'ipv6');
  // Without a host, the drivers use PGHOST, which may be any machine.
  return host === 'localhost' || host.startsWith('/');
}
