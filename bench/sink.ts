import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface Sink {
  readonly port: number;
  /** Mails taken so far. */
  count(): number;
  stop(): Promise<void>;
}

/** An SMTP server that takes everything and keeps nothing: as little work as the protocol allows. */
export async function startSink(): Promise<Sink> {
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let body = false;
    let pending = '';
    socket.write('220 sink\r\n');
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (;;) {
        if (body) {
          const end = pending.indexOf('\r\n.\r\n');
          if (end < 0) {
            // The dot may be split over two chunks.
            pending = pending.slice(-4);
            return;
          }
          pending = pending.slice(end + 5);
          body = false;
          taken += 1;
          socket.write('250 taken\r\n');
          continue;
        }
        const line = pending.indexOf('\r\n');
        if (line < 0) return;
        const command = pending.slice(0, 4).toUpperCase();
        pending = pending.slice(line + 2);
        body = command === 'DATA';
        socket.write(command === 'DATA' ? '354 go on\r\n' : command === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    count: () => taken,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
