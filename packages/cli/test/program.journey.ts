import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyDirectory, openCommandLine, outcomeOf, spawnCommand } from './command-line.ts';

const { environment, key, postrider, url } = await openCommandLine();

describe('the CLI', () => {
  it('prints JSON when there is no terminal, unless --output specifies another format', async () => {
    const output = await outcomeOf(spawnCommand(['keys', 'list'], environment()));
    const rejection = await outcomeOf(spawnCommand(['email', 'get', 'msg_0'], environment()));

    expect(JSON.parse(output.out)).toMatchObject({ object: 'list' });
    expect(JSON.parse(rejection.err)).toMatchObject({ error: { reason: 'message_not_found' } });
    expect(JSON.parse((await postrider(['keys', 'list', '--output=json'])).out)).toMatchObject({ object: 'list' });
    const version1 = await postrider(['keys', 'list', '--output', 'json@1']);
    expect(JSON.parse(version1.out)).toMatchObject({ output_version: 1, object: 'list' });
    expect(JSON.parse(rejection.err)).toMatchObject({ output_version: 1 });
    expect((await postrider(['keys', 'list', '--output', 'json@2'])).code).toBe(2);
    expect((await postrider(['keys', 'list', '--output', 'yaml'])).code).toBe(2);
  });

  it('exits with 0, 1, 2 or 3, as documented in the help', async () => {
    const codes = [
      await postrider(['keys', 'list']),
      await postrider(['email', 'get', 'msg_0']),
      await postrider(['email', 'got', 'msg_0']),
      await postrider(['keys', 'list'], { POSTRIDER_URL: 'http://127.0.0.1:1' }),
    ];

    expect(codes.map(({ code }) => code)).toEqual([0, 1, 2, 3]);
  });

  it('accepts the API URL from POSTRIDER_URL', async () => {
    expect(await postrider(['keys', 'list'], { POSTRIDER_URL: `${url}/v1/` })).toMatchObject({ code: 0 });
  });
});

describe('login', () => {
  it('saves the URL and key for later commands in a file readable only by its owner', async () => {
    const home = await emptyDirectory();
    const child = spawnCommand(['login', '--url', `${url}/v1`], { HOME: home });
    child.stdin.end(`${key}\n`);

    const login = await outcomeOf(child);

    expect(login).toMatchObject({ code: 0 });
    expect(login.out + login.err).not.toContain(key);
    const file = join(home, '.config/postrider/config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url, key });
    const list = await outcomeOf(spawnCommand(['keys', 'list'], { HOME: home }));
    expect(list).toMatchObject({ code: 0 });
    const other = await outcomeOf(spawnCommand(['keys', 'list'], { HOME: home, POSTRIDER_URL: 'http://127.0.0.1:1' }));
    expect(JSON.parse(other.err).error.reason).toBe('missing_key');
    await chmod(file, 0o644);
    const open = await outcomeOf(spawnCommand(['keys', 'list'], { HOME: home }));
    expect(JSON.parse(open.err).error.reason).toBe('profile_is_open');
    await rm(home, { recursive: true });
  });

  it('rejects empty input before sending a request', async () => {
    const home = await emptyDirectory();
    const child = spawnCommand(['login', '--url', url], { HOME: home });
    child.stdin.end('\n');

    expect(JSON.parse((await outcomeOf(child)).err.replace(/^Paste.*\n/, '')).error.reason).toBe('missing_key');
    await rm(home, { recursive: true });
  });

  it('does not save a rejected key', async () => {
    const home = await emptyDirectory();
    const child = spawnCommand(['login', '--url', url], { HOME: home });
    child.stdin.end(`pr_live_${'0'.repeat(64)}\n`);

    expect(JSON.parse((await outcomeOf(child)).err.replace(/^Paste.*\n/, '')).error.reason).toBe('unknown_key');
    await expect(stat(join(home, '.config'))).rejects.toThrow('ENOENT');
    await rm(home, { recursive: true });
  });
});
