// npm run test:pg15 -- [vitest arguments]: runs the tests on an installed Postgres 15, the oldest supported version
// (Debian's postgresql-15, or the folder of its programs in POSTGRES_15_BIN). npm test uses the embedded Postgres.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainOldNode, findNode, root } from './pinned-node.mjs';

const programs = process.env.POSTGRES_15_BIN ?? '/usr/lib/postgresql/15/bin';
const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Postgres refuses to run as root; Debian's package has created the user postgres. */
function asPostgres(program, args) {
  const command = [join(programs, program), ...args];
  const [first, ...others] = process.getuid() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command;
  const { status, error, stderr } = spawnSync(first, others, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  if (error || status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

/** Returns the arguments of each run: both suites that use a database, or the suite that the given paths belong to. */
function suitesFor(options) {
  const database = ['--project', 'database', ...options];
  const journeys = ['--config', 'vitest.journeys.config.ts', ...options];
  if (options.length === 0) return [database, journeys];
  return options.some((option) => option.includes('.journey.')) ? [journeys] : [database];
}

async function run(node) {
  if (!existsSync(join(programs, 'postgres')))
    throw new Error(`no Postgres 15 in ${programs}; on Debian, apt-get install postgresql-15 brings it`);
  const folder = mkdtempSync(join(tmpdir(), 'postrider-pg15-'));
  const data = join(folder, 'data');
  const port = await freePort();
  if (process.getuid() === 0) spawnSync('chown', ['postgres', folder]);
  chmodSync(folder, 0o755);
  const settings = Object.entries({ ...THROWAWAY, port }).map(([name, value]) => `-c ${name}='${value}'`);
  try {
    asPostgres('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
    asPostgres('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings.join(' '), 'start']);
    const env = { ...process.env, POSTRIDER_TEST_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres` };
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    for (const suite of suitesFor(process.argv.slice(2))) {
      const { status } = spawnSync(node, [vitest, 'run', ...suite], { stdio: 'inherit', cwd: root, env });
      process.exitCode = status ?? 1;
      if (process.exitCode !== 0) break;
    }
  } finally {
    if (existsSync(join(data, 'postmaster.pid'))) asPostgres('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']);
    rmSync(folder, { recursive: true, force: true });
  }
}

// A terminal signal reaches vitest as well; this process waits for it and then stops the server.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
const node = findNode();
if (node) {
  await run(node);
} else {
  explainOldNode();
  process.exitCode = 1;
}
