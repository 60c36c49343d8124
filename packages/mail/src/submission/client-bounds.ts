import type { Server, Socket } from 'node:net';
import type { SharedPlaces } from '../smtp/shared-places.ts';

export interface ClientBounds {
  /** From the connection to the login. */
  readonly login_ms: number;
  /** From the first byte of an email to its last. */
  readonly mail_ms: number;
  /** With so many connections, those that are idle for `idle_ms` make room for the next login. */
  readonly crowd: number;
  readonly idle_ms: number;
}

const LOGIN_MS = 30_000;
const MAIL_MS = 600_000;
const CROWD = 100;
const IDLE_IN_CROWD_MS = 60_000;

export const clientBounds: ClientBounds = {
  login_ms: LOGIN_MS,
  mail_ms: MAIL_MS,
  crowd: CROWD,
  idle_ms: IDLE_IN_CROWD_MS,
};

/** A client by its socket; the one below TLS has the same. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

const nameOf = ({ remoteAddress = '', remotePort = 0 }: Peer) =>
  `${remoteAddress.replace(/^::ffff:/, '')} ${remotePort}`;

export interface Strangers {
  /** The client has logged in, or has left. */
  forget(peer: Peer): void;
}

/**
 * Closes what does not log in in time, and what a network has open beyond its share, from the first byte on: who drips
 * through a TLS handshake or its commands would otherwise hold its place for ever.
 */
export function boundStrangers(listener: Server, login_ms: number, places: SharedPlaces): Strangers {
  const leaves = new Map<string, () => void>();
  listener.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    const [address = ''] = name.split(' ');
    if (!places.take(address)) {
      socket.destroy();
      return;
    }
    const deadline = setTimeout(() => {
      socket.destroy();
      leave();
    }, login_ms).unref();
    const leave = () => {
      if (!leaves.delete(name)) return;
      clearTimeout(deadline);
      places.give(address);
    };
    leaves.set(name, leave);
    // STARTTLS takes this listener away; then the server says when the client has left.
    socket.once('close', leave);
  });
  return { forget: (peer) => leaves.get(nameOf(peer))?.() };
}

const FIRST_BYTES = 64 * 1024;

/** Chunks as one buffer. Each chunk that was kept would cost as much as a hundred bytes, and one may be of one byte. */
export function createGatherer(): { add(chunk: Buffer): void; all(): Buffer } {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add(chunk) {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, 2 * buffer.length, length + chunk.length));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      length += chunk.copy(buffer, length);
    },
    all: () => buffer.subarray(0, length),
  };
}
