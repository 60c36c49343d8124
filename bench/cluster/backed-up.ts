import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@postrider/testing/free-port';
import { wallTime } from '../faults/wall-time.ts';
import { postgresBin } from './needs.ts';
import { postgresUser } from './patroni.ts';

const execute = promisify(execFile);
const CONFIGURATION = fileURLToPath(new URL('../../deploy/pgbackrest/', import.meta.url));
const STANZA = '--stanza=postrider';

/** How far to restore: to the end of a backup, to a point in time, or through everything archived. */
export type Until = { readonly backup: string } | { readonly time: string } | 'end';

export interface RunningPostgres {
  readonly url: string;
  /** Kills every process with kill -9, as the loss of the machine would. */
  lose(): Promise<void>;
}

/** A Postgres 15 server with the configuration of deploy/pgbackrest, plus its backups. */
export interface BackedUp {
  readonly primary: RunningPostgres;
  /** Takes a backup and returns its label. */
  backup(type: 'full' | 'incr'): Promise<string>;
  /** Restores into an empty folder, as on another machine; returns once the server accepts writes. */
  restore(until: Until): Promise<RunningPostgres>;
  stop(): Promise<void>;
}

// A failed drill must leave no process behind.
const running = new Set<number>();
process.once('exit', () => {
  for (const pid of running) kill(pid);
});

export async function startBackedUp(folder: string): Promise<BackedUp> {
  const user = postgresUser();
  const socket_folder = join(folder, 'sockets');
  const repository = join(folder, 'repository');
  for (const path of [socket_folder, repository]) makeFolder(path);
  const shared = {
    PATH: `${process.env.PATH}:${postgresBin}`,
    PGBACKREST_CONFIG: join(CONFIGURATION, 'pgbackrest.conf'),
    PGBACKREST_REPO1_PATH: repository,
    PGBACKREST_REPO1_CIPHER_PASS: randomBytes(24).toString('base64'),
    PGBACKREST_LOCK_PATH: join(folder, 'lock'),
    PGBACKREST_PG1_SOCKET_PATH: socket_folder,
    PGBACKREST_PG1_USER: 'postgres',
  };
  const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = shared) =>
    execute(command, [...args], { ...user, cwd: folder, env, maxBuffer: 16 * 1024 * 1024 });

  function makeFolder(path: string): void {
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, user.uid, user.gid);
  }

  async function start(data: string, port: number, rest: readonly string[]): Promise<RunningPostgres> {
    const env = { ...shared, PGBACKREST_PG1_PATH: data, PGBACKREST_PG1_PORT: String(port) };
    const settings = [
      `-p ${port}`,
      '-c listen_addresses=127.0.0.1',
      `-c unix_socket_directories=${socket_folder}`,
      '-c max_connections=120',
      ...rest,
    ].join(' ');
    await run(
      join(postgresBin, 'pg_ctl'),
      ['-D', data, '-w', '-t', '120', '-l', `${data}.log`, '-o', settings, 'start'],
      env,
    );
    const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    running.add(postmaster);
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      async lose() {
        running.delete(postmaster);
        for (const pid of [postmaster, ...childrenOf(postmaster)]) kill(pid);
      },
    };
  }

  const data = join(folder, 'primary');
  makeFolder(data);
  await run(join(postgresBin, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C']);
  appendFileSync(join(data, 'postgresql.conf'), `\ninclude '${join(CONFIGURATION, 'postgresql.conf')}'\n`);
  const port = await freePort();
  const own = { ...shared, PGBACKREST_PG1_PATH: data, PGBACKREST_PG1_PORT: String(port) };
  const servers = [await start(data, port, [])];
  const [primary] = servers;
  if (!primary) throw new Error('the primary did not start');
  await run('pgbackrest', [STANZA, 'stanza-create'], own);
  return {
    primary,
    async backup(type) {
      await run('pgbackrest', [STANZA, `--type=${type}`, 'backup'], own);
      const { stdout } = await run('pgbackrest', [STANZA, '--output=json', 'info'], own);
      const [stanza] = JSON.parse(stdout) as { readonly backup: readonly { readonly label: string }[] }[];
      const label = stanza?.backup.at(-1)?.label;
      if (label === undefined) throw new Error('pgbackrest lists no backup');
      return label;
    },
    async restore(until) {
      const path = join(folder, `restored-${servers.length}`);
      makeFolder(path);
      const place = await freePort();
      const target =
        until === 'end'
          ? []
          : 'time' in until
            ? ['--type=time', `--target=${until.time}`, '--target-action=promote']
            : [`--set=${until.backup}`, '--type=immediate', '--target-action=promote'];
      const env = { ...shared, PGBACKREST_PG1_PATH: path, PGBACKREST_PG1_PORT: String(place) };
      await run('pgbackrest', [STANZA, ...target, 'restore'], env);
      // A second server must not archive to the first server's backups.
      const server = await start(path, place, ['-c archive_mode=off']);
      servers.push(server);
      await untilPromoted(server.url, run);
      return server;
    },
    async stop() {
      for (const server of servers) await server.lose();
    },
  };
}

async function untilPromoted(
  url: string,
  run: (command: string, args: readonly string[]) => Promise<{ stdout: string }>,
) {
  for (const until = wallTime() + 120_000; ; ) {
    const { stdout } = await run(join(postgresBin, 'psql'), ['-At', '-c', 'select pg_is_in_recovery()', url]);
    if (stdout.trim() === 'f') return;
    if (wallTime() > until) throw new Error('the restored database did not finish recovery');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}
