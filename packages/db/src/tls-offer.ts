import { connect, isIP } from 'node:net';

// Of the PostgreSQL protocol, section 54.7: the length, then the code of an SSLRequest.
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const NO = 'N'.charCodeAt(0);
const WAIT_MS = 2000;
const USUAL_PORT = 5432;

/** Whether a server that a connection string wants TLS of says that it offers none; false where it says nothing. */
export function offersNoTls(url: string): Promise<boolean> {
  if (!URL.canParse(url)) return Promise.resolve(false);
  const { hostname, port, searchParams } = new URL(url);
  const wanted = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable';
  if (!/^(?:require|verify-ca|verify-full|true)$/.test(wanted)) return Promise.resolve(false);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || USUAL_PORT), ...(isIP(host) === 6 && { family: 6 }) });
    const end = (none: boolean) => {
      socket.destroy();
      resolve(none);
    };
    socket.setTimeout(WAIT_MS, () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.on('connect', () => socket.write(SSL_REQUEST));
    socket.on('data', (answer) => end(answer[0] === NO));
  });
}
