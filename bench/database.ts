import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@postrider/db';
import { startEmbedded } from '@postrider/db/embedded';

export interface BenchServer {
  readonly url: string;
  /** A fresh database of this name; the address of it. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** A Postgres with durable settings and room, for the limit, the peers and the product alike. */
export async function startBenchServer(): Promise<BenchServer> {
  const data_dir = mkdtempSync(join(tmpdir(), 'postrider-bench-'));
  execFileSync('chmod', ['755', data_dir]);
  const server = await startEmbedded({
    data_dir,
    settings: {
      shared_buffers: '1GB',
      max_connections: '200',
      max_wal_size: '8GB',
      min_wal_size: '2GB',
      checkpoint_timeout: '15min',
      autovacuum_naptime: '10s',
    },
  });
  return {
    url: server.url,
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
