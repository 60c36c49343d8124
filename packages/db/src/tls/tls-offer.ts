import { connect, isIP } from 'node:net';
import { takeTls } from './take-tls.ts';

// The PostgreSQL protocol, section 54.7: the length, followed by the code of an SSLRequest.
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const NO = 'N'.charCodeAt(0);
const WAIT_MS = 2000;
const DEFAULT_PORT = 5432;

/**
 * Returns whether a server responds that it does not support TLS although the URL requires it; returns false if the
 * server does not respond.
 */
export function offersNoTls(url: string): Promise<boolean> {
  if (!URL.canParse(url)) return Promise.resolve(false);
  const { hostname, port } = new URL(url);
  if (!takeTls(new URL(url)).ssl) return Promise.resolve(false);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || DEFAULT_PORT), ...(isIP(host) === 6 && { family: 6 }) });
    const end = (none: boolean) => {
      socket.destroy();
      resolve(none);
    };
    socket.setTimeout(WAIT_MS, () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.on('connect', () => socket.write(SSL_REQUEST));
    socket.on('data', (response) => end(response[0] === NO));
  });
}
