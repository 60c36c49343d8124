import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './embedded.ts';

const settings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '16MB' };
const parent = realpathSync(mkdtempSync(join(tmpdir(), 'postrider-embedded-')));
const data_dir = join(parent, 'data');
const started: EmbeddedServer[] = [];

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const embedded = await startEmbedded({ data_dir, settings, ...options });
  started.push(embedded);
  return embedded;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const sql = connect(url, { max: 1, application_name: 'embedded-test' });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end();
  }
}

function postmasterPid(directory: string = data_dir): number {
  return Number(readFileSync(join(directory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Starts the database in a separate process, which is killed as soon as the database is up. */
async function startThenExit(): Promise<void> {
  const module = new URL('./embedded.ts', import.meta.url).href;
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(module)});
    await startEmbedded(${JSON.stringify({ data_dir, settings })});
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

beforeAll(async () => {
  // Temporary directories are private by default, and Postgres may have to run as another user.
  chmodSync(parent, 0o755);
  const first = await start();
  await query(first.url, 'create table kept (word text)');
  await query(first.url, "insert into kept values ('kept')");
  await first.stop();
}, 60_000);

afterEach(async () => {
  for (const embedded of started.splice(0)) await embedded.stop();
});

afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
});

describe('startEmbedded', () => {
  it('preserves data between starts', async () => {
    const second = await start();

    expect(second.reused).toBe(false);
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('stops the server on request, even if requested twice', async () => {
    const embedded = await start();

    await Promise.all([embedded.stop(), embedded.stop()]);

    await expect(query(embedded.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    expect(existsSync(join(data_dir, 'postgres/data/postmaster.pid'))).toBe(false);
  });

  it('real R22: stops the server when its process dies, however abruptly, and restarts with the same data', async () => {
    await startThenExit();
    const pidFile = join(data_dir, 'postgres/data/postmaster.pid');
    await expect.poll(() => existsSync(pidFile), { timeout: 30_000 }).toBe(false);

    const embedded = await start();

    expect(embedded.reused).toBe(false);
    expect(await query(embedded.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('starts even if the server was killed and left a pid file behind', async () => {
    const first = await start();
    const pid = postmasterPid();
    process.kill(pid, 'SIGKILL');
    await first.stop();

    const embedded = await start();

    expect(postmasterPid()).not.toBe(pid);
    expect(await query(embedded.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('starts even if the pid in a leftover pid file now belongs to another process', async () => {
    const first = await start();
    const pidFile = readFileSync(join(data_dir, 'postgres/data/postmaster.pid'), 'utf8');
    await first.stop();
    writeFileSync(join(data_dir, 'postgres/data/postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));

    const embedded = await start();

    expect(embedded.reused).toBe(false);
    expect(await query(embedded.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('keeps the server running while another process still uses it', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect([one.reused, two.reused].sort()).toEqual([false, true]);
    expect(one.url).toBe(two.url);

    await one.stop();

    expect(await query(two.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('gives a copied data directory its own server', async () => {
    const original = await start();
    const copy = join(parent, 'copy');
    cpSync(data_dir, copy, { recursive: true });

    const second = await start({ data_dir: copy });

    expect(second.reused).toBe(false);
    expect(postmasterPid(copy)).not.toBe(postmasterPid());
    await query(second.url, "update kept set word = 'changed'");
    expect(await query(original.url, 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  it('listens only on loopback, with a password that only the owner can read', async () => {
    const embedded = await start();

    const [facts] = await query(
      embedded.url,
      `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets,
        current_setting('jit') as jit, current_setting('synchronous_commit') as durable`,
    );

    expect(facts).toEqual({ addresses: '127.0.0.1', sockets: '', jit: 'off', durable: 'on' });
    expect(statSync(join(data_dir, 'embedded.json')).mode & 0o777).toBe(0o600);
    const wrong = embedded.url.replace(/:[0-9a-f]+@/, ':wrong@');
    await expect(query(wrong, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('rejects data from another major version, and explains what to do', async () => {
    const other = join(parent, 'other');
    cpSync(data_dir, other, { recursive: true });
    writeFileSync(join(other, 'postgres/data/PG_VERSION'), '17\n');

    await expect(start({ data_dir: other })).rejects.toThrow('was created by Postgres 17');
  });

  it('rejects a database whose password file is missing, and does not replace the database', async () => {
    const other = join(parent, 'bare');
    cpSync(data_dir, other, { recursive: true });
    rmSync(join(other, 'embedded.json'));

    await expect(start({ data_dir: other })).rejects.toThrow('embedded.json with its password does not');
  });

  it('leaves no unusable server running after a failed start', async () => {
    const other = join(parent, 'changed');
    cpSync(data_dir, other, { recursive: true });
    const facts = JSON.parse(readFileSync(join(other, 'embedded.json'), 'utf8'));
    writeFileSync(join(other, 'embedded.json'), JSON.stringify({ ...facts, password: 'another' }));

    await expect(start({ data_dir: other })).rejects.toThrow('password authentication failed');

    expect(existsSync(join(other, 'postgres/data/postmaster.pid'))).toBe(false);
  });

  it('finds existing data in a directory that other users cannot access', async () => {
    const closed = join(parent, 'closed');
    mkdirSync(closed, { mode: 0o700 });

    const first = await start({ data_dir: join(closed, 'data') });
    await query(first.url, 'create table noted ()');
    await first.stop();
    const again = await start({ data_dir: join(closed, 'data') });

    expect(again.reused).toBe(false);
    expect(await query(again.url, 'select * from noted')).toEqual([]);
    await again.stop();
    // When this process is root, Postgres runs as a user who cannot enter the directory, so its data is elsewhere and
    // would be left behind.
    const { directory } = JSON.parse(readFileSync(join(closed, 'data/embedded.json'), 'utf8')) as { directory: string };
    expect(isAbsolute(directory)).toBe(process.getuid?.() === 0);
    if (isAbsolute(directory)) rmSync(directory, { recursive: true });
  });
});
