import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyDirectory, openCommandLine } from './command-line.ts';

const { directory, launch, postrider, url } = await openCommandLine({ embedded: true });

describe('keys create --local', () => {
  it('creates a local key with every scope, while the server is running', async () => {
    const creation = await launch(['keys', 'create', '--local', '--json'], { POSTRIDER_API_KEY: '' });

    expect(creation).toMatchObject({ code: 0, err: '' });
    const { secret } = JSON.parse(creation.out);
    expect((await postrider(['keys', 'list'], { POSTRIDER_API_KEY: secret })).code).toBe(0);
  });

  it('creates no local key if nothing is installed', async () => {
    const rejection = await launch(['keys', 'create', '--local'], { DATA_DIR: join(directory, 'elsewhere') });

    expect(rejection.code).toBe(1);
    expect(rejection.err).toMatch(/^not_installed: .*\nRun npm start once/);
  });
});

describe('operators login-link', () => {
  it('names the address of the running server, whose port was set for that process only', async () => {
    const { out } = await postrider(['operators', 'login-link', '--json'], { POSTRIDER_URL: '' });

    expect(new URL(JSON.parse(out).url).origin).toBe(url);
  });
});

describe('the migrate command', () => {
  it('migrates an empty database, and then reports that it is up to date', async () => {
    const empty = await emptyDirectory();
    try {
      const first = await launch(['migrate', '--json'], { DATA_DIR: empty });
      const second = await launch(['migrate'], { DATA_DIR: empty });

      expect(JSON.parse(first.out).ran[0]).toBe('0001_baseline');
      expect(second).toEqual({ code: 0, out: 'The database is up to date.\n', err: '' });
      const tooEarly = await postrider(['keys', 'create', '--local'], { DATA_DIR: empty });
      expect(tooEarly.err).toMatch(/^not_installed: /);
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });
});

describe('doctor', () => {
  it('reports a running installation as healthy', async () => {
    const { code, out } = await postrider(['doctor', '--json']);

    expect(code).toBe(0);
    const { healthy, checks } = JSON.parse(out);
    expect(healthy).toBe(true);
    expect(checks.map((check: { name: string; result: string }) => `${check.name} ${check.result}`)).toEqual([
      'node ok',
      'database ok',
      'migrations ok',
      'settings ok',
      'secret_key ok',
      'oldest_transaction ok',
      'transaction_ids ok',
      'vacuum ok',
      'default_partitions ok',
      'clock ok',
      'workers ok',
      'queue_age ok',
      'disk ok',
      'certificate skipped',
      'relays skipped',
      'relay_feedback skipped',
      'port_25 skipped',
      'helo skipped',
      'ptr skipped',
      'spf skipped',
      'blocklists skipped',
      'service ok',
      'key ok',
    ]);
  });

  it('asks the port of the settings if the database is not the embedded one, though its server is running', async () => {
    const { out } = await postrider(['doctor'], {
      POSTRIDER_URL: '',
      POSTRIDER_API_KEY: '',
      DATABASE_URL: 'postgres://127.0.0.1:9/none',
      SECRET_KEY: '0'.repeat(64),
      PORT: '9',
    });

    expect(out).toContain('No response from http://localhost:9');
  });

  it('reports a failed check, and skips a check that does not apply', async () => {
    const { code, out } = await launch(['doctor'], {
      POSTRIDER_URL: 'http://127.0.0.1:9',
      POSTRIDER_API_KEY: '',
      DATA_DIR: join(directory, 'elsewhere'),
    });

    expect(code).toBe(1);
    expect(out).toMatch(/skipped +database/);
    expect(out).toMatch(/failed +service +No response from http:\/\/127\.0\.0\.1:9/);
    expect(out).toMatch(/skipped +key/);
  });
});

describe('leftover databases', () => {
  it('are listed, excluding databases in use, and are never removed automatically', async () => {
    const { code, out } = await launch(['databases', '--json']);

    expect(code).toBe(0);
    const { data } = JSON.parse(out) as { data: { made_for: string; removed: boolean }[] };
    expect(data.map(({ made_for }) => made_for)).not.toContain(directory);
    expect(data.every(({ removed }) => !removed)).toBe(true);
  });

  it('can be removed by name, but only with --deleted if the folder’s volume may be unmounted', async () => {
    const place = await emptyDirectory();
    const makeCluster = async (name: string, made_for: string) => {
      const directory = join(place, 'postrider-root', name);
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'owner'), made_for);
      return directory;
    };
    const stale = await makeCluster('cluster-gone', join(place, 'data'));
    const far = await makeCluster('cluster-far', join(place, 'volume', 'data'));
    const remove = (...args: string[]) => launch(['databases', '--remove', ...args, '--yes'], { TMPDIR: place });

    const none = await remove(join(place, 'cluster-none'));
    const rejection = await remove(far);
    const before = await readdir(join(place, 'postrider-root'));
    const removal = await remove(stale);
    const directories = await readdir(join(place, 'postrider-root'));
    const confirmation = await remove(far, '--deleted');

    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('not_left_over') });
    expect(rejection).toMatchObject({ code: 1, err: expect.stringContaining('folder_missing') });
    expect(before.sort()).toEqual(['cluster-far', 'cluster-gone']);
    expect(removal.out).toMatch(/cluster-gone +0 MB +created for .+ +removed/);
    expect(removal.code).toBe(0);
    expect(directories).toEqual(['cluster-far']);
    expect(confirmation.code).toBe(0);
    expect(await readdir(join(place, 'postrider-root'))).toEqual([]);
    await rm(place, { recursive: true });
  });
});
