import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@postrider/testing/free-port';
import { type FaultProxy, startFaultProxy } from '../faults/proxy.ts';
import { postgresBin } from './needs.ts';
import { type Program, startProgram } from './program.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/patroni/patroni.yml', import.meta.url));
const PASSWORD = 'loopback';
const POLL_MS = 200;
const PATIENCE_MS = 90_000;

interface Member {
  readonly name: string;
  readonly postgres_port: number;
  readonly rest_port: number;
  readonly data: string;
  /**
   * The proxy through which the member's standbys and Patroni's rewind connect, simulating a network between machines.
   */
  readonly network: FaultProxy;
}

/** Three members with the configuration of deploy/patroni, and the etcd they coordinate through. */
export interface PatroniCluster {
  /** The addresses passed to HAProxy when it starts with deploy/haproxy/postgres.cfg. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly password: string;
  /** Resolves once there is a primary and a synchronous standby. */
  untilSynchronous(): Promise<void>;
  /**
   * Kills Patroni and every process of its Postgres with kill -9, as a power loss would. Withholds replication from its
   * standbys for `hold_stream_ms` beforehand.
   */
  killPrimary(hold_stream_ms?: number): Promise<string>;
  /** From now on, commits do not wait for a standby. */
  goAsynchronous(): Promise<void>;
  /** Restarts the killed member; Patroni makes it a standby. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPatroni(folder: string): Promise<PatroniCluster> {
  const user = postgresUser();
  const etcd_port = await freePort();
  const etcd = await startEtcd(folder, etcd_port, await freePort());
  const members: Member[] = [];
  for (const index of [1, 2, 3]) {
    const data = join(folder, `pg-${index}`);
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, user.uid, user.gid);
    const postgres_port = await freePort();
    const network = await startFaultProxy(() => ({ host: '127.0.0.1', port: postgres_port }));
    members.push({ name: `pg-${index}`, postgres_port, rest_port: await freePort(), data, network });
  }
  const running = new Map<string, Program>();
  const begin = async (member: Member) => {
    const { name, rest_port } = member;
    const program = await startProgram({
      command: 'patroni',
      args: [CONFIGURATION],
      env: environment(member, etcd_port),
      ...user,
      log: join(folder, `${name}.log`),
      ready: () => fetch(`http://127.0.0.1:${rest_port}/liveness`).then(({ ok }) => ok),
    });
    running.set(name, program);
  };
  const roleOf = async ({ rest_port }: Member, role: string) =>
    fetch(`http://127.0.0.1:${rest_port}/${role}`, { signal: AbortSignal.timeout(2000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
  const find = async (role: string): Promise<Member> => {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      for (const member of members) if (await roleOf(member, role)) return member;
      if (performance.now() > until) throw new Error(`no member became ${role} in time`);
      await pause(POLL_MS);
    }
  };
  // A Postgres server outlives the Patroni process that started it.
  process.once('exit', () => {
    for (const { data } of members) if (existsSync(join(data, 'postmaster.pid'))) kill(postmasterOf(data));
  });
  for (const member of members) await begin(member);
  return {
    password: PASSWORD,
    addresses: Object.fromEntries(
      members.flatMap(({ postgres_port, rest_port }, index) => [
        [`POSTRIDER_PG_${index + 1}`, `127.0.0.1:${postgres_port}`],
        [`POSTRIDER_PATRONI_${index + 1}`, String(rest_port)],
      ]),
    ),
    async untilSynchronous() {
      await find('primary');
      await find('synchronous');
    },
    async killPrimary(hold_stream_ms = 0) {
      const { name, data, network } = await find('primary');
      const program = running.get(name);
      running.delete(name);
      const postmaster = postmasterOf(data);
      if (hold_stream_ms > 0) {
        network.mute(true);
        await pause(hold_stream_ms);
      }
      // All processes are killed together. Otherwise, Patroni would restart Postgres, or Postgres would shut down
      // cleanly.
      const exit = program?.stop('SIGKILL');
      for (const pid of [postmaster, ...childrenOf(postmaster)]) kill(pid);
      await exit;
      // Data in flight is lost with the machine.
      network.cutAll();
      network.mute(false);
      return name;
    },
    async goAsynchronous() {
      const { rest_port } = await find('primary');
      const response = await fetch(`http://127.0.0.1:${rest_port}/config`, {
        method: 'PATCH',
        body: JSON.stringify({ synchronous_mode: false, maximum_lag_on_failover: 100_000_000 }),
      });
      if (!response.ok) throw new Error(`Patroni returned ${response.status}`);
    },
    async revive() {
      for (const member of members) if (!running.has(member.name)) await begin(member);
    },
    async stop() {
      await Promise.all([...running.values()].map((program) => program.stop()));
      await etcd.stop();
      await Promise.all(members.map(({ network }) => network.stop()));
    },
  };
}

/** Returns the user that runs Postgres, which refuses to run as root. */
export function postgresUser(): { readonly uid: number; readonly gid: number } {
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function postmasterOf(data: string): number {
  return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process exited with its parent.
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

function startEtcd(folder: string, port: number, peer_port: number): Promise<Program> {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peer_port}`];
  return startProgram({
    command: 'etcd',
    args: [
      ...['--name', 'etcd-1', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `etcd-1=${peer}`],
    ],
    log: join(folder, 'etcd.log'),
    ready: () => fetch(`${client}/health`).then(({ ok }) => ok),
  });
}

function environment(
  { name, postgres_port, rest_port, data, network }: Member,
  etcd_port: number,
): Record<string, string> {
  return {
    HOME: data,
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcd_port}`,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${rest_port}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${rest_port}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${postgres_port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${network.port}`,
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_BIN_DIR: postgresBin,
    PATRONI_POSTGRESQL_PGPASS: join(data, '..', `${name}.pgpass`),
    PATRONI_SUPERUSER_USERNAME: 'postgres',
    PATRONI_SUPERUSER_PASSWORD: PASSWORD,
    PATRONI_REPLICATION_USERNAME: 'replicator',
    PATRONI_REPLICATION_PASSWORD: PASSWORD,
  };
}
