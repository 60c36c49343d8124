import { Socket } from 'node:net';

const POLL_MS = 250;
/** ReadyForQuery: Postgres has finished responding to a statement. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);
const READY_BYTES = READY.length + 1;

interface Waiting {
  /** From performance.now(); null while no statement is pending. */
  asked_at: number | null;
}

/** The part of the driver's options that names the server. */
export interface ServerPlace {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false | undefined;
}

/**
 * Creates sockets that are destroyed if Postgres receives a statement and then stays silent for `answer_ms`. Otherwise
 * a stopped server, or a network that drops packets, would block the caller forever. With TLS, responses cannot be told
 * from other bytes, so every byte counts as the response to everything sent before it.
 */
export function answeringSockets(answer_ms: number): (place: ServerPlace) => Socket {
  const sockets = new Map<Socket, Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let next = 0;

  const look = () => {
    const too_long = performance.now() - answer_ms;
    for (const [socket, { asked_at }] of sockets) {
      if (asked_at !== null && asked_at < too_long) socket.destroy(new UnansweredError(answer_ms));
    }
  };

  return ({ host, port, path }) => {
    const waiting: Waiting = { asked_at: null };
    const socket = new Socket();
    socket.on('data', (chunk: Buffer) => {
      const ready = chunk.length >= READY_BYTES && chunk.subarray(-READY_BYTES, -1).equals(READY);
      waiting.asked_at = ready ? null : performance.now();
    });
    sockets.set(socket, waiting);
    timer ??= setInterval(look, POLL_MS).unref();
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    });
    const place = next++ % port.length;
    const name = host[place] ?? 'localhost';
    if (path) socket.connect(path);
    else socket.connect(port[place] ?? 5432, name);
    // Runs after connect, which restores the prototype's write.
    const write = socket.write;
    socket.write = function asking(this: Socket, ...args: Parameters<Socket['write']>) {
      waiting.asked_at ??= performance.now();
      return write.apply(this, args);
    } as Socket['write'];
    // The driver reads `host` when it verifies a certificate.
    return Object.assign(socket, { host: name });
  };
}

class UnansweredError extends Error {
  readonly code = 'DATABASE_SILENT';

  constructor(answer_ms: number) {
    super(`Postgres has not answered for ${answer_ms} ms; the connection was closed`);
    this.name = 'UnansweredError';
  }
}
