import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, usualPorts } from './config.ts';

type PortName = keyof typeof usualPorts;
type Ports = Partial<Record<PortName, number>>;
type Settings = Pick<Config, PortName | 'DATA_DIR' | 'DATABASE_URL'>;

const PORTS_TRIED = 100;

/**
 * Listens on the configured port, which must be free. If no port is configured, listens on the usual port or the next
 * free one. A port other than the usual one is stored next to an embedded database, so that the next start uses the
 * same addresses.
 */
export async function listenNear<T extends { readonly port: number }>(
  settings: Settings,
  name: PortName,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  const set = settings[name];
  if (set !== undefined) return listenOn(name, set, listen);
  const stored_ports = readPorts(settings);
  const first = stored_ports[name] ?? usualPorts[name];
  for (let port = first; port < first + PORTS_TRIED; port++) {
    const listener = await unlessBusy(listen(port));
    if (listener === null) continue;
    if (port !== first) keepPorts(settings, { ...stored_ports, [name]: port });
    return listener;
  }
  throw new Error(`No free port from ${first} to ${first + PORTS_TRIED - 1}. Set ${name}.`);
}

/** Listens on the port that a variable specifies. */
export async function listenOn<T>(name: string, port: number, listen: (port: number) => Promise<T>): Promise<T> {
  const listener = await unlessBusy(listen(port));
  if (listener === null)
    throw new Error(`${name} ${port} is in use. Stop the process that uses it or set another port.`);
  return listener;
}

async function unlessBusy<T>(listening: Promise<T>): Promise<T | null> {
  try {
    return await listening;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return null;
    throw error;
  }
}

function readPorts({ DATA_DIR, DATABASE_URL }: Settings): Ports {
  if (DATABASE_URL !== undefined) return {};
  try {
    const read: unknown = JSON.parse(readFileSync(portsFile(DATA_DIR), 'utf8'));
    const entries = Object.entries(read ?? {}).filter(
      ([, port]) => Number.isInteger(port) && port > 0 && port < 65_536,
    );
    return Object.fromEntries(entries) as Ports;
  } catch {
    return {};
  }
}

function keepPorts({ DATA_DIR, DATABASE_URL }: Settings, ports: Ports): void {
  if (DATABASE_URL === undefined) writeFileSync(portsFile(DATA_DIR), `${JSON.stringify(ports)}\n`);
}

function portsFile(data_dir: string): string {
  return join(data_dir, 'ports.json');
}
