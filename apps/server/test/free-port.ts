import { createServer } from 'node:net';

/**
 * Returns a port that was free a moment ago, for a program that cannot choose one itself, such as a third-party program
 * or an older release.
 */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was free');
  return String(address.port);
}

/** Returns a port for each listener of a process of an older release. */
export async function freePorts(): Promise<Record<'PORT' | 'CAPTURE_PORT' | 'INBOUND_PORT', string>> {
  return { PORT: await freePort(), CAPTURE_PORT: await freePort(), INBOUND_PORT: await freePort() };
}
