import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, sqlState } from './connect.ts';
import { type Binaries, findBinaries } from './embedded-binaries.ts';
import { guardServer } from './embedded-guard.ts';
import { hold, holdersDirectory, inTurn, isHeld } from './embedded-holders.ts';
import { machineDirectories } from './embedded-leftovers.ts';
import { canEnter, run, type ServerUser } from './embedded-process.ts';
import { findPostmaster, type Postmaster, readState, type State } from './embedded-state.ts';

export { announcements, type Claim, claim } from './embedded-holders.ts';
export { bytesIn, type Leftover, leftoverDatabases, type Removal, removeLeftover } from './embedded-leftovers.ts';

export interface EmbeddedOptions {
  /** Created if absent. Contains the database, or a file that says where the database is. */
  readonly data_dir: string;
  /** Server settings that override the defaults below, as in postgresql.conf. Applied when the server starts. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Environment variables of the server, for example a benchmark's preload that slows its disk. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly on_progress?: (line: string) => void;
}

export interface EmbeddedServer {
  readonly url: string;
  /** Whether the server was already running, either for another process or because a process died. */
  readonly reused: boolean;
  /** Stops the server, unless another process still uses it. */
  stop(): Promise<void>;
}

const ROLE = 'postrider';
const DATABASE = 'postrider';
const START_ATTEMPTS = 5;
const START_TIMEOUT_SECONDS = 60;
const STOP_TIMEOUT_SECONDS = 8;
const ANSWER_MS = 60_000;
const LOG_LIMIT_BYTES = 1_000_000;

// As durable as in production, but with a small memory footprint: background processes that the product does not need
// are off.
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  shared_buffers: '64MB',
  max_connections: '100',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Logging failed statements would write message bodies and secrets to a file.
  log_min_error_statement: 'panic',
};

interface Cluster {
  readonly user: ServerUser | null;
  readonly binaries: Binaries;
  readonly data: string;
  readonly log: string;
  readonly password: string;
}

/** Starts a private Postgres for this data directory, or connects to the running one. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  // Searchable by others, because the Postgres user may have to pass through it. Secret files have their own modes.
  const first_directory = mkdirSync(options.data_dir, { recursive: true });
  const data_dir = realpathSync(options.data_dir);
  if (first_directory !== undefined) chmodSync(data_dir, 0o711);
  const progress = options.on_progress ?? (() => undefined);

  return inTurn(data_dir, async () => {
    const cluster = await openCluster(data_dir, progress, options.settings ?? {});
    const startNow = async () => {
      // A killed Postgres leaves this file behind, and a later start would mistake any process with that pid for the
      // server.
      rmSync(join(cluster.data, 'postmaster.pid'), { force: true });
      progress('Starting Postgres');
      await startPostmaster(cluster, options.settings ?? {}, options.environment ?? {});
      return ensureDatabase(cluster).catch(async (error) => {
        // No other process uses this server or would stop it.
        await stopPostmaster(cluster);
        throw error;
      });
    };
    let reused = findPostmaster(cluster.data) !== null;
    const postmaster = reused ? await ensureDatabase(cluster).catch(unlessEnded(cluster)) : null;
    // A server that was running may just have been stopped by the last process that used it.
    reused = postmaster !== null;
    const { port } = postmaster ?? (await startNow());

    const release = hold(data_dir);
    const unguard = guardServer(holdersDirectory(data_dir), cluster.data);
    let stopped: Promise<void> | null = null;
    const stop = () =>
      inTurn(data_dir, async () => {
        unguard();
        release();
        if (!isHeld(data_dir)) await stopPostmaster(cluster);
      });
    return {
      url: addressOf(cluster, port, DATABASE),
      reused,
      stop() {
        stopped ??= stop();
        return stopped;
      },
    };
  });
}

async function openCluster(
  data_dir: string,
  progress: (line: string) => void,
  settings: Readonly<Record<string, string>>,
): Promise<Cluster> {
  const recorded = readState(data_dir);
  const known = recorded && (await isStillOwned(data_dir, recorded, progress)) ? recorded : null;
  const user = chooseUser(known ? join(resolve(data_dir, known.directory), 'data') : null);
  const state = known ?? (await createState(data_dir, user));
  const directory = resolve(data_dir, state.directory);
  if (!(await canEnter(user, directory))) {
    throw new Error(
      `Postgres runs as ${user?.name} and cannot reach ${directory}. ` +
        'Make its parent directories searchable (chmod o+x) or choose another DATA_DIR.',
    );
  }
  const binaries = await findBinaries(user, () => (user ? machineDirectory() : data_dir), progress);
  const data = join(directory, 'data');
  const cluster = { user, binaries, data, log: join(data, 'server.log'), password: state.password };
  if (!existsSync(data)) {
    progress('Creating the database');
    await initialise(cluster, settings);
  }
  // Postgres rejects a data directory that others can read, and copying a tree loses the mode.
  chmodSync(data, 0o700);
  const version = existsSync(join(data, 'PG_VERSION'))
    ? readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
    : 'unknown';
  if (version !== binaries.major) {
    throw new Error(
      `${data} was created by Postgres ${version}, but this release includes Postgres ${binaries.major}. ` +
        'Start the release that created it, export your data, then choose another DATA_DIR.',
    );
  }
  return cluster;
}

/**
 * Returns whether the database belongs to this data directory. A database outside the data directory belongs to only
 * one: a copied checkout gets its own database.
 */
async function isStillOwned(data_dir: string, state: State, progress: (line: string) => void): Promise<boolean> {
  if (!isAbsolute(state.directory)) return true;
  const ownerFile = join(state.directory, 'owner');
  if (!existsSync(ownerFile)) {
    throw new Error(
      `The database of ${data_dir} was in ${state.directory}, which no longer exists. ` +
        `Restore it, or delete ${join(data_dir, 'embedded.json')} to start with an empty database.`,
    );
  }
  const owner = readFileSync(ownerFile, 'utf8');
  if (owner === data_dir) return true;
  if (existsSync(owner) && readState(owner)?.directory === state.directory) {
    progress(`The database in ${state.directory} belongs to ${owner}, so this copy starts with an empty one`);
    return false;
  }
  replaceFile(ownerFile, data_dir, null);
  return true;
}

async function createState(data_dir: string, user: ServerUser | null): Promise<State> {
  const password = randomBytes(24).toString('hex');
  let directory = 'postgres';
  if (await canEnter(user, data_dir)) {
    if (existsSync(join(data_dir, directory))) {
      throw new Error(
        `${join(data_dir, directory)} exists but embedded.json with its password does not; ` +
          `restore that file, or move ${data_dir} away to start with an empty database.`,
      );
    }
  } else {
    directory = mkdtempSync(join(machineDirectory(), 'cluster-'));
    writeFileSync(join(directory, 'owner'), data_dir);
  }
  // The password is written before the cluster is created, so that a crash never leaves a cluster without its password.
  replaceFile(join(data_dir, 'embedded.json'), JSON.stringify({ directory, password }), null);
  const absolute = resolve(data_dir, directory);
  mkdirSync(absolute, { recursive: true });
  chmodSync(absolute, 0o700);
  if (user) lchownSync(absolute, user.uid, user.gid);
  return { directory, password };
}

/**
 * Returns the user that runs Postgres when this process is root: the owner of the data, or else `postgres` or `nobody`,
 * because initdb requires a passwd entry.
 */
function chooseUser(data: string | null): ServerUser | null {
  const owner = data ? statSync(data, { throwIfNoEntry: false })?.uid : undefined;
  const own = process.getuid?.();
  if (own === undefined) return null;
  if (own !== 0) {
    if (owner !== undefined && owner !== own) {
      throw new Error(
        `The database in ${data} belongs to uid ${owner}. Start as that user or choose another DATA_DIR.`,
      );
    }
    return null;
  }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter((user) => user.uid > 0);
  if (owner) return users.find((user) => user.uid === owner) ?? { name: `uid ${owner}`, uid: owner, gid: owner };
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody');
  if (!user) {
    throw new Error(
      'Postgres cannot run as root, and there is no user `postgres` or `nobody`. Set DATABASE_URL instead.',
    );
  }
  // A tree copied by root belongs to root, and Postgres rejects data that it does not own.
  if (data && owner === 0) chownTo(user, data);
  return user;
}

function chownTo(user: ServerUser, directory: string): void {
  lchownSync(resolve(directory, '..'), user.uid, user.gid);
  lchownSync(directory, user.uid, user.gid);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    lchownSync(join(entry.parentPath, entry.name), user.uid, user.gid);
  }
}

function machineDirectory(): string {
  for (const directory of machineDirectories) {
    try {
      mkdirSync(directory, { recursive: true });
      const stats = lstatSync(directory);
      // In a shared directory, another user may have created it first.
      if (!stats.isDirectory() || stats.uid !== 0 || (stats.mode & 0o022) !== 0) continue;
      chmodSync(directory, 0o755);
      return directory;
    } catch {
      // /var/lib may be read-only, so try the next directory.
    }
  }
  throw new Error(
    'Neither /var/lib/postrider nor the temporary directory can store the database. Set DATABASE_URL instead.',
  );
}

async function initialise(cluster: Cluster, settings: Readonly<Record<string, string>>): Promise<void> {
  const directory = resolve(cluster.data, '..');
  const partial = join(directory, 'data.partial');
  const passwordFile = join(directory, 'initdb.password');
  rmSync(partial, { recursive: true, force: true });
  replaceFile(passwordFile, cluster.password, cluster.user);
  try {
    const { code, output } = await run(cluster.user, cluster.binaries.initdb, [
      ...['-D', partial, '-U', ROLE, '--encoding=UTF8', '--locale=C'],
      ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...(settings.fsync === 'off' ? ['--no-sync'] : []),
    ]);
    if (code !== 0) throw new Error(`initdb failed: ${output}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  appendFileSync(join(partial, 'postgresql.conf'), "\ninclude_if_exists = 'postrider.conf'\n");
  renameSync(partial, cluster.data);
}

async function startPostmaster(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  if ((statSync(cluster.log, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) {
    renameSync(cluster.log, `${cluster.log}.old`);
  }
  for (let attempt = 1; ; attempt++) {
    const own = { port: String(await freePort()), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
    const lines = Object.entries({ ...DEFAULT_SETTINGS, ...settings, ...own }).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    replaceFile(join(cluster.data, 'postrider.conf'), lines.join(''), cluster.user);
    const logged = statSync(cluster.log, { throwIfNoEntry: false })?.size ?? 0;
    const { code } = await run(
      cluster.user,
      cluster.binaries.pg_ctl,
      [...['start', '-s', '-w', '-t', String(START_TIMEOUT_SECONDS)], ...['-D', cluster.data, '-l', cluster.log]],
      environment,
    );
    if (code === 0) return;
    const log_tail = existsSync(cluster.log) ? readFileSync(cluster.log).subarray(logged).toString().trim() : '';
    // The port may have been taken meanwhile, and the children of a killed server need a moment to exit.
    const passing = /could not bind|could not create any TCP\/IP|shared memory block .* is still in use/.test(log_tail);
    if (!passing || attempt === START_ATTEMPTS) {
      throw new Error(`Postgres did not start; ${cluster.log} says:\n${log_tail || 'nothing'}`);
    }
    await delay(200 * attempt);
  }
}

async function stopPostmaster(cluster: Cluster): Promise<void> {
  for (const mode of ['fast', 'immediate']) {
    if (!findPostmaster(cluster.data)) return;
    const wait = ['-w', '-t', String(STOP_TIMEOUT_SECONDS)];
    const { code } = await run(cluster.user, cluster.binaries.pg_ctl, [
      'stop',
      '-s',
      '-D',
      cluster.data,
      '-m',
      mode,
      ...wait,
    ]);
    if (code === 0) return;
  }
  if (findPostmaster(cluster.data))
    throw new Error(`Postgres in ${cluster.data} did not stop. See its log at ${cluster.log}.`);
}

function addressOf(cluster: Cluster, port: number, database: string): string {
  return `postgres://${ROLE}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/**
 * Creates the database if it is absent. Also waits for a server that another process is starting, or that is recovering
 * from a crash.
 */
async function ensureDatabase(cluster: Cluster): Promise<Postmaster> {
  const deadline = performance.now() + START_TIMEOUT_SECONDS * 1000;
  for (;;) {
    const running = findPostmaster(cluster.data);
    if (!running) throw new Error(`Postgres exited during startup. See its log at ${cluster.log}.`);
    const failure = running.port > 0 ? await tryCreateDatabase(addressOf(cluster, running.port, 'postgres')) : null;
    if (failure === null && running.port > 0) return running;
    if (failure !== null && !isStarting(failure)) throw failure;
    if (performance.now() > deadline) throw new Error(`Postgres does not respond. See its log at ${cluster.log}.`);
    await delay(50);
  }
}

/** Returns an error handler that returns null if the server has stopped meanwhile, and otherwise rethrows the error. */
function unlessEnded(cluster: Cluster): (error: unknown) => null {
  return (error) => {
    if (findPostmaster(cluster.data)) throw error;
    return null;
  };
}

async function tryCreateDatabase(url: string): Promise<Error | null> {
  const sql = connect(url, { max: 1, application_name: 'postrider-embedded', answer_ms: ANSWER_MS });
  try {
    const [database] = await sql`select 1 from pg_database where datname = ${DATABASE}`;
    if (!database) await sql`create database ${sql(DATABASE)}`;
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Returns whether the server is still starting: Postgres responds with 57P03 until it has recovered. */
function isStarting(error: Error): boolean {
  return sqlState(error) === '57P03' || ('code' in error && error.code === 'ECONNREFUSED');
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address && typeof address === 'object' ? done(address.port) : fail(new Error('no port'))));
    });
  });
}

/** Replaces a file without following a link at `path`, because the directory may belong to a less privileged user. */
function replaceFile(path: string, content: string, owner: ServerUser | null): void {
  const fresh = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, content, { flag: 'wx', mode: 0o600 });
  if (owner) lchownSync(fresh, owner.uid, owner.gid);
  renameSync(fresh, path);
}
