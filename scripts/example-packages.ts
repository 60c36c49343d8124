import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './instance.ts';

/** Installs the packages of a folder in examples, unless they are there. Returns their folder. */
export function installExample(name: string): string {
  const folder = join(root, 'examples', name);
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'node_modules/.lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return join(folder, 'node_modules');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ci in examples/${name} failed:\n${stderr}`);
  // A program without dependencies has no such folder yet.
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(stamp, lock);
  return join(folder, 'node_modules');
}

/** Fills a folder's node_modules with an example's packages and this repository's client. */
export function linkExample(name: string, folder: string): void {
  const packages = installExample(name);
  const target = join(folder, 'node_modules');
  mkdirSync(target);
  for (const entry of readdirSync(packages))
    if (!entry.startsWith('.')) symlinkSync(join(packages, entry), join(target, entry));
  symlinkSync(join(root, 'node_modules/@postrider'), join(target, '@postrider'));
}
