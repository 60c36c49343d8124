import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@postrider/db';
import { startEmbedded } from '@postrider/db/embedded';

export interface BenchServer {
  /** Creates an empty database with this name and returns its URL. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a Postgres with durable settings and ample resources, used for the limit, the peers and the product alike. */
async function startBenchServer(
  environment: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>>,
): Promise<BenchServer> {
  const data_dir = mkdtempSync(join(tmpdir(), 'postrider-bench-'));
  chmodSync(data_dir, 0o755);
  const server = await startEmbedded({
    data_dir,
    environment,
    settings: {
      shared_buffers: '1GB',
      max_connections: '200',
      max_wal_size: '8GB',
      min_wal_size: '2GB',
      checkpoint_timeout: '15min',
      ...settings,
    },
  });
  return {
    async database(name) {
      const admin = connect(server.url, { max: 1, application_name: 'bench' });
      await admin`drop database if exists ${admin(name)} with (force)`;
      await admin`create database ${admin(name)}`;
      await admin.end();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      await server.stop();
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
}

/** Runs the work with a new benchmark server, and always stops the server. */
export async function onBenchServer<Result>(
  work: (server: BenchServer) => Promise<Result>,
  environment: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const server = await startBenchServer(environment, settings);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Builds the preload library that slows down a server's flushes; returns null without a C compiler. */
export function buildSlowFlush(flush_us: number): Readonly<Record<string, string>> | null {
  const library = join(tmpdir(), `postrider-slow-flush-${process.pid}.so`);
  const source = fileURLToPath(new URL('./slow-flush.c', import.meta.url));
  try {
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'ignore' });
  } catch {
    return null;
  }
  chmodSync(library, 0o755);
  return { LD_PRELOAD: library, FLUSH_US: String(flush_us) };
}
