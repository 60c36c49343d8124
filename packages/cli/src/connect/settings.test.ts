import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Terminal } from '../terminal/terminal.ts';
import { profileFile, settingsOf, writeProfile } from './settings.ts';

const profile = { url: 'https://mail.example.com', key: 'pr_live_secret' };

async function newHome(): Promise<{ readonly terminal: Terminal; readonly file: string }> {
  const home = await mkdtemp(join(tmpdir(), 'postrider-profile-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const terminal: Terminal = { env: { HOME: home }, print() {}, note() {}, fail() {} };
  const file = profileFile(terminal);
  await mkdir(dirname(file), { recursive: true });
  return { terminal, file };
}

describe('the CLI profile', () => {
  it('fairness L4: replaces an open file without exposing the secret, and is readable only by its owner', async () => {
    const { terminal, file } = await newHome();
    await writeFile(file, '{}', { mode: 0o644 });
    const reader = await open(file);
    onTestFinished(() => reader.close());

    writeProfile(terminal, profile);

    expect(await reader.readFile('utf8')).toBe('{}');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(file))).toEqual(['config.json']);
    expect(settingsOf(terminal).key).toBe(profile.key);
  });

  it('fairness L4: is never written through a symbolic link', async () => {
    const { terminal, file } = await newHome();
    const target = join(dirname(file), 'shared.json');
    await writeFile(target, '{}');
    await symlink(target, file);

    expect(() => writeProfile(terminal, profile)).toThrow(/is a symbolic link/);

    expect(await readFile(target, 'utf8')).toBe('{}');
  });
});
