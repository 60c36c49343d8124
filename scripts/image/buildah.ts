import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
/**
 * Images built by these scripts are stored apart from the machine's own images. Removing the folder removes them all.
 */
export const store = process.env.POSTRIDER_IMAGE_STORE ?? '/var/tmp/postrider-image';
export const image = 'localhost/postrider:latest';

const PROGRAMS: Readonly<Record<string, string>> = {
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  'docker-compose': 'docker-compose',
  unshare: 'util-linux',
  python3: 'python3-yaml',
};

/** Exits with installation instructions if a program is missing. */
export function require(...programs: readonly string[]): void {
  const problems: string[] = [];
  if (process.platform !== 'linux') problems.push('it runs on Linux');
  else if (process.getuid?.() !== 0) problems.push('run it as root: it makes file systems and mounts them');
  const missing = programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
  if (missing.length > 0)
    problems.push(`apt-get install ${missing.map((name) => PROGRAMS[name] ?? name).join(' ')} brings what is missing`);
  if (problems.length === 0) return;
  console.error(`This does not run here: ${problems.join('; ')}.`);
  process.exit(1);
}

/** Runs a command and prints its output. */
export function show(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error || status !== 0)
    throw new Error(`${command} ${args[0]} failed: ${error?.message ?? `exit code ${status}`}`);
}

export function ask(command: string, args: readonly string[], input = ''): string {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8', input, maxBuffer: 2 ** 26 }).trim();
}

/** Returns the arguments of every buildah call, which needs neither a kernel storage driver nor a daemon. */
export function buildah(...args: readonly string[]): string[] {
  mkdirSync(store, { recursive: true, mode: 0o700 });
  return ['--root', join(store, 'images'), '--runroot', join(store, 'run'), '--storage-driver', 'vfs', ...args];
}

export function hasImage(name: string): boolean {
  return spawnSync('buildah', buildah('inspect', '--type', 'image', name), { stdio: 'ignore' }).status === 0;
}

export function baseName(): string {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const names = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name));
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) throw new Error('the stages of the Dockerfile have one base');
  return `docker.io/library/${name}`;
}

export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export function imageConfig(name: string): ImageConfig {
  return JSON.parse(ask('buildah', buildah('inspect', '--type', 'image', name))).OCIv1.config;
}

/** Mounts the root file system of an image where no other process writes to it. */
export function mountImage(name: string): { readonly container: string; readonly path: string; remove(): void } {
  const container = ask('buildah', buildah('from', '--pull-never', name));
  const path = ask('buildah', buildah('mount', container));
  if (!existsSync(path)) throw new Error(`${name} was not mounted`);
  return { container, path, remove: () => void ask('buildah', buildah('rm', container)) };
}
