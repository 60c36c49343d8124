import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Debian installs the Postgres 15 programs, unless POSTGRES_15_BIN overrides it. */
export const postgresBin = process.env.POSTGRES_15_BIN ?? '/usr/lib/postgresql/15/bin';

const PACKAGES = {
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  pgbackrest: 'pgbackrest',
  'systemd-analyze': 'systemd',
  patroni: 'patroni python3-etcd3gw',
  etcd: 'etcd-server',
  postgres: 'postgresql-15',
} as const;
export type Program = keyof typeof PACKAGES;

/** Throws with installation instructions if a program is missing. */
export function need(...programs: readonly Program[]): void {
  const isThere = (program: Program) =>
    program === 'postgres'
      ? existsSync(`${postgresBin}/postgres`)
      : spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`]).status === 0;
  const missing = programs.filter((program) => !isThere(program)).map((program) => PACKAGES[program]);
  if (missing.length > 0) throw new Error(`not on this machine; on Debian: apt-get install ${missing.join(' ')}`);
}
