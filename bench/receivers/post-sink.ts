import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface PostSink {
  readonly port: number;
  /** The number of posts so far. */
  count(): number;
  /** Sets a listener for every post: its path, its webhook-id, and when it arrived. */
  onPost(listener: ((path: string, id: string, at: number) => void) | null): void;
  /** Stops responding to posts to this path; null resumes all responses. */
  hang(path: string | null): void;
  stop(): Promise<void>;
}

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');

/** Accepts posts over keep-alive connections with as little work as the protocol allows. */
export async function startPostSink(): Promise<PostSink> {
  let count = 0;
  let listener: ((path: string, id: string, at: number) => void) | null = null;
  let hanging: string | null = null;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (;;) {
        const head = pending.indexOf('\r\n\r\n');
        if (head < 0) return;
        const header = pending.toString('latin1', 0, head);
        const length = Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
        if (pending.length < head + 4 + length) return;
        pending = pending.subarray(head + 4 + length);
        const path = header.slice(5, header.indexOf(' ', 5));
        count += 1;
        listener?.(path, /webhook-id: (\S+)/i.exec(header)?.[1] ?? '', performance.now());
        if (path !== hanging) socket.write(ANSWER);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    onPost(next) {
      listener = next;
    },
    hang(path) {
      hanging = path;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
