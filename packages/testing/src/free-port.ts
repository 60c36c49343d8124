import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections, which could take one before its program listens.
const MIN_PORT = 10_240;
const MAX_PORT = 32_767;
const ports = new Set<number>();

/**
 * Returns a port of 127.0.0.1 that was free a moment ago, for a program that cannot choose one itself, such as a
 * third-party program or a process that must return to the same port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = MIN_PORT + Math.floor(Math.random() * (MAX_PORT - MIN_PORT + 1));
    if (ports.has(port) || !(await isFree(port))) continue;
    ports.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
