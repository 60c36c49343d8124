import { freePort } from '@postrider/testing/free-port';

/** Returns a port for each listener of a process of an older release, which cannot choose one itself. */
export async function freePorts(): Promise<Record<'PORT' | 'CAPTURE_PORT' | 'INBOUND_PORT', string>> {
  const [port, capture_port, inbound_port] = [await freePort(), await freePort(), await freePort()];
  return { PORT: String(port), CAPTURE_PORT: String(capture_port), INBOUND_PORT: String(inbound_port) };
}
