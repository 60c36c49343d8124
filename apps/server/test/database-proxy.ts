import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy between a process and its database that fails on demand. */
export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Silences established connections. New ones work. */
  silence(): void;
  /** Still forwards what clients send, but no established connection gets a response. */
  swallowAnswers(): void;
  /** Silences the next connection on which a client sends this text. */
  silenceAt(words: string): Promise<void>;
  /** Closes the next connection on which a client sends this text, before it gets a response. */
  cutAt(words: string): Promise<void>;
  /** Closes every connection and rejects new ones until the proxy is reopened. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function openDatabaseProxy(database_url: string): Promise<DatabaseProxy> {
  const target = new URL(database_url);
  // An address unique to this process, so that nothing else takes the port while the proxy is closed.
  const host = `127.1.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let cut: { readonly words: Buffer; readonly ends: boolean; done(): void } | null = null;
  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer((client) => {
        const upstream = connect(Number(target.port || 5432), target.hostname);
        upstreams.add(upstream);
        upstream.on('close', () => upstreams.delete(upstream));
        for (const [from, to] of [
          [client, upstream],
          [upstream, client],
        ] as const) {
          sockets.add(from);
          from.on('error', () => undefined);
          from.on('close', () => {
            sockets.delete(from);
            to.destroy();
          });
          from.pipe(to);
        }
        client.prependListener('data', (chunk: Buffer) => {
          if (!cut || !chunk.includes(cut.words)) return;
          upstream.unpipe();
          upstream.resume();
          if (cut.ends) client.destroy();
          cut.done();
          cut = null;
        });
      });
      server.once('error', reject);
      server.listen(port, host, () => resolve(server));
    });
  let server: Server | null = await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const { port } = address;
  const url = new URL(database_url);
  url.host = `${host}:${port}`;
  return {
    url: url.href,
    silence() {
      for (const socket of sockets) {
        socket.unpipe();
        // Data is read and discarded, so that the peer sees everything accepted.
        socket.resume();
      }
    },
    swallowAnswers() {
      for (const upstream of upstreams) {
        upstream.unpipe();
        upstream.resume();
      }
    },
    silenceAt(words) {
      return new Promise((done) => {
        cut = { words: Buffer.from(words), ends: false, done };
      });
    },
    cutAt(words) {
      return new Promise((done) => {
        cut = { words: Buffer.from(words), ends: true, done };
      });
    },
    async close() {
      const closing = server;
      server = null;
      const closed = new Promise((resolve) => closing?.close(resolve) ?? resolve(null));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async open() {
      server ??= await listen(port);
    },
  };
}
