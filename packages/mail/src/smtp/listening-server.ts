import type { AddressInfo } from 'node:net';
import type { SMTPServer } from 'smtp-server';

/** Binds a server and returns its port. */
export async function listenOn(server: SMTPServer, host: string, port: number): Promise<number> {
  const listener = server.server;
  // Emitted when a client breaks its connection.
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    server.listen(port, host, () => {
      listener.removeListener('error', reject);
      resolve();
    });
  });
  // Bound to a host and a port, so it is no path of a pipe.
  return (listener.address() as AddressInfo).port;
}

/** Closes a server. Mail that is being stored is still answered; then idle sessions get 421 and are closed. */
export async function closeServer(server: SMTPServer, storing: ReadonlySet<Promise<void>>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  while (storing.size > 0) await Promise.all(storing);
  for (const connection of server.connections) {
    connection.send(421, 'Closing');
    connection.close();
  }
  await closed;
}
