import type { Server, Socket } from 'node:net';

export interface ClientBounds {
  /** Connections of one address that have not logged in. */
  readonly strangers_of_address: number;
  /** From the connection to the login. */
  readonly login_ms: number;
  /** From the first byte of a mail to its last. */
  readonly mail_ms: number;
  /** Connections with one login. */
  readonly connections_of_sender: number;
  /** Mail that is being read or stored, of everyone and of one login. */
  readonly bytes: number;
  readonly bytes_of_sender: number;
}

const STRANGERS_OF_ADDRESS = 20;
const LOGIN_MS = 30_000;
const MAIL_MS = 600_000;
const CONNECTIONS_OF_SENDER = 100;
// As the bodies of requests: about nine of the largest mails at once.
const TOTAL_BYTES = 128 * 1024 * 1024;

export const clientBounds: ClientBounds = {
  strangers_of_address: STRANGERS_OF_ADDRESS,
  login_ms: LOGIN_MS,
  mail_ms: MAIL_MS,
  connections_of_sender: CONNECTIONS_OF_SENDER,
  bytes: TOTAL_BYTES,
  bytes_of_sender: TOTAL_BYTES / 2,
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
 * Closes what does not log in in time, and what an address has open beyond its share, from the first byte on: who
 * drips through a TLS handshake or its commands would otherwise hold its place for ever.
 */
export function boundStrangers(listener: Server, bounds: ClientBounds): Strangers {
  const leaves = new Map<string, () => void>();
  const counts = new Map<string, number>();
  listener.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    const [address = ''] = name.split(' ');
    const count = (counts.get(address) ?? 0) + 1;
    if (count > bounds.strangers_of_address) {
      socket.destroy();
      return;
    }
    counts.set(address, count);
    const deadline = setTimeout(() => {
      socket.destroy();
      leave();
    }, bounds.login_ms).unref();
    const leave = () => {
      if (!leaves.delete(name)) return;
      clearTimeout(deadline);
      const left = (counts.get(address) ?? 0) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    };
    leaves.set(name, leave);
    // STARTTLS takes this listener away; then the server says when the client has left.
    socket.once('close', leave);
  });
  return { forget: (peer) => leaves.get(nameOf(peer))?.() };
}

/** A share of something of which there is so much in all, and so much for each sender. */
export interface Shares {
  /** Whether there was so much left; if so it is taken. */
  take(sender: string, amount: number): boolean;
  give(sender: string, amount: number): void;
}

export function createShares(total: number, of_sender: number): Shares {
  const taken = new Map<string, number>();
  let all = 0;
  const change = (sender: string, amount: number) => {
    all += amount;
    const own = (taken.get(sender) ?? 0) + amount;
    if (own > 0) taken.set(sender, own);
    else taken.delete(sender);
  };
  return {
    take(sender, amount) {
      if (all + amount > total || (taken.get(sender) ?? 0) + amount > of_sender) return false;
      change(sender, amount);
      return true;
    },
    give: (sender, amount) => change(sender, -amount),
  };
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
