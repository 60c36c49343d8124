import type { AddressInfo } from 'node:net';
import type { SMTPServer } from 'smtp-server';

/** Binds a server and returns its port. */
export async function listenOn(server: SMTPServer, host: string, port: number): Promise<number> {
  const listener = server.server;
  // An error is emitted when a client drops its connection.
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    server.listen(port, host, () => {
      listener.removeListener('error', reject);
      resolve();
    });
  });
  // The server is bound to a host and port, so the address is not a pipe path.
  return (listener.address() as AddressInfo).port;
}

/** Messages that have fully arrived and are being stored, by the session that sent them. */
export class StoringMail {
  readonly #storing = new Map<string, Promise<unknown>>();

  /** Stores a message. A stop of the server waits until the message is stored. */
  run<T>(session_id: string, store: () => Promise<T>): Promise<T> {
    const stored = store().finally(() => this.#storing.delete(session_id));
    this.#storing.set(
      session_id,
      stored.catch(() => undefined),
    );
    return stored;
  }

  has(session_id: string): boolean {
    return this.#storing.has(session_id);
  }

  /** Resolves once the next message is stored. Returns null if no message is being stored. */
  next(): Promise<unknown> | null {
    return this.#storing.size > 0 ? Promise.race(this.#storing.values()) : null;
  }
}

// A client that does not close its side has nothing left to send or receive.
const MAX_LEAVING_MS = 1000;

/**
 * Closes a server. Messages that have fully arrived are stored and replied to. Every other session gets 421, even in
 * the middle of a message, which its client will resend.
 */
export async function closeServer(server: SMTPServer, storing: StoringMail): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (;;) {
    for (const connection of server.connections) {
      if (storing.has(connection.id)) continue;
      connection.send(421, 'Closing');
      connection.close();
    }
    const next = storing.next();
    if (next === null) break;
    await next;
    // The reply to the message precedes the 421.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, MAX_LEAVING_MS).unref())]);
}
