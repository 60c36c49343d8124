import type { Server, Socket } from 'node:net';
import type { SharedPlaces } from '../smtp/shared-places.ts';

export interface ClientBounds {
  /** The time limit from connecting to logging in. */
  readonly login_ms: number;
  /** The time limit from the first byte of a message to the last. */
  readonly mail_ms: number;
  /** Above this many connections, connections idle for `idle_ms` make room for the next login. */
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

/** A client, identified by its socket; the socket under TLS has the same identity. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

const peerKey = ({ remoteAddress = '', remotePort = 0 }: Peer) =>
  `${remoteAddress.replace(/^::ffff:/, '')} ${remotePort}`;

export interface Strangers {
  /** Called when the client has logged in or disconnected. */
  forget(peer: Peer): void;
}

/**
 * Closes connections that do not log in before the deadline, and connections beyond the share of their network, from
 * the first byte on. Otherwise a client that drips through a TLS handshake or its commands would occupy its slot
 * forever.
 */
export function boundStrangers(listener: Server, login_ms: number, places: SharedPlaces): Strangers {
  const leaves = new Map<string, () => void>();
  listener.on('connection', (socket: Socket) => {
    const name = peerKey(socket);
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
    // STARTTLS removes this listener. After that, the server reports when the client has disconnected.
    socket.once('close', leave);
  });
  return { forget: (peer) => leaves.get(peerKey(peer))?.() };
}

const FIRST_BYTES = 64 * 1024;

/**
 * Creates a gatherer, which collects chunks in one buffer. Storing each chunk separately would cost about a hundred
 * bytes per chunk, and a chunk may be a single byte.
 */
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
