import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A TCP proxy that delays, mutes, half-closes and cuts the traffic. */
export interface FaultProxy {
  readonly port: number;
  /** Returns the local ports of the proxy's current connections to the server. */
  ports(): number[];
  /** Delays every chunk in both directions by this many milliseconds. */
  delay(ms: number): void;
  /** Blocks all traffic until called with false; connections stay open, and neither side is notified. */
  mute(is_muted: boolean): void;
  /**
   * Cuts the next connection on which the client sends these bytes, after passing them on; stops waiting when the
   * signal aborts.
   */
  cutAfter(bytes: string, signal: AbortSignal): Promise<void>;
  /** Does the same as cutAfter, but without passing the bytes on. */
  cutBefore(bytes: string, signal: AbortSignal): Promise<void>;
  /** Ends the server's side of every open connection, like a peer that died with its sockets half open. */
  halfClose(): void;
  cutAll(): void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

interface Cut {
  readonly bytes: Buffer;
  readonly passes: boolean;
  done(): void;
}

export async function startFaultProxy(target: () => { host: string; port: number }, host = '127.0.0.1', port = 0) {
  const pairs = new Set<Pair>();
  const waiting: (() => void)[] = [];
  const cuts: Cut[] = [];
  const delayed = new WeakMap<Socket, Promise<void>>();
  let delay_ms = 0;
  let muted = false;

  /** Preserves the order even if the delay was just reduced. */
  const writeLater = (to: Socket, write: () => void) => {
    const before = delayed.get(to);
    if (before === undefined && delay_ms === 0) {
      write();
      return;
    }
    const due = performance.now() + delay_ms;
    const written: Promise<void> = (before ?? Promise.resolve())
      .then(() => pause(Math.max(0, due - performance.now())))
      .then(() => {
        write();
        if (delayed.get(to) === written) delayed.delete(to);
      });
    delayed.set(to, written);
  };
  const pass = (pair: Pair, to: Socket, chunk: Buffer) => {
    const place = to === pair.server ? cuts.findIndex(({ bytes }) => chunk.includes(bytes)) : -1;
    const [cut] = place < 0 ? [] : cuts.splice(place, 1);
    if (cut) {
      // The bytes arrive; the response never comes back.
      if (cut.passes) to.write(chunk);
      pair.client.destroy();
      setTimeout(() => pair.server.destroy(), 20);
      cut.done();
      return;
    }
    const write = () => {
      if (!to.destroyed && to.writable) to.write(chunk);
    };
    if (muted) waiting.push(write);
    else writeLater(to, write);
  };
  const cutOn = (bytes: string, passes: boolean, signal: AbortSignal) =>
    new Promise<void>((done) => {
      const cut: Cut = { bytes: Buffer.from(bytes), passes, done };
      cuts.push(cut);
      signal.addEventListener('abort', () => {
        const place = cuts.indexOf(cut);
        if (place >= 0) cuts.splice(place, 1);
        done();
      });
    });

  const server = createServer((client) => {
    const pair: Pair = { client, server: openSocket(target()) };
    pairs.add(pair);
    client.setNoDelay(true);
    pair.server.setNoDelay(true);
    client.on('data', (chunk: Buffer) => pass(pair, pair.server, chunk));
    pair.server.on('data', (chunk: Buffer) => pass(pair, client, chunk));
    for (const [end, other] of [
      [client, pair.server],
      [pair.server, client],
    ] as const) {
      end.on('error', () => end.destroy());
      end.on('close', () => {
        if (!muted) other.destroy();
        if (other.closed) pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const proxy: FaultProxy = {
    port: (server.address() as AddressInfo).port,
    ports: () => [...pairs].flatMap(({ server: backend }) => backend.localPort ?? []),
    delay(ms) {
      delay_ms = ms;
    },
    mute(is_muted) {
      muted = is_muted;
      if (is_muted) return;
      for (const write of waiting.splice(0)) write();
      // Closes the other side of every connection that was closed in the meantime, because a database reserves a slot
      // for a client that it believes is connected.
      for (const { client, server: backend } of pairs) {
        if (client.closed) backend.destroy();
        if (backend.closed) client.destroy();
      }
    },
    cutAfter: (bytes, signal) => cutOn(bytes, true, signal),
    cutBefore: (bytes, signal) => cutOn(bytes, false, signal),
    halfClose() {
      for (const { client } of pairs) client.end();
    },
    cutAll() {
      for (const { client, server: backend } of pairs) {
        client.destroy();
        backend.destroy();
      }
    },
    async stop() {
      proxy.cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
