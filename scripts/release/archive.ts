import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../image/buildah.ts';

export const architectures = ['x64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

// What only development needs. The manifest of packages/testing stays, because the lockfile names it.
const LEFT_OUT =
  /^(\.(?!npmrc)|bench\/|vitest|Dockerfile|docker-compose|packages\/testing\/src\/|docs\/screens\/)|\.test\.ts$|(^|\/)test\//;

/** Creates the tree of a release without Node: the code, its production dependencies and the built dashboard. */
export function createTree(tree: string, version: string, bill: string): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files.filter((one) => !LEFT_OUT.test(one))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(root, file), join(tree, file), { verbatimSymlinks: true });
  }
  cpSync(join(root, 'apps/dashboard/dist'), join(tree, 'apps/dashboard/dist'), { recursive: true });
  // Install scripts run, because one of them patches the Postgres driver. No production dependency is compiled, so the
  // same tree serves every architecture.
  const install = ['ci', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', install, { cwd: tree, stdio: 'inherit' });
  writeFileSync(join(tree, 'RELEASE'), `${version}\n`);
  writeFileSync(join(tree, 'sbom.cdx.json'), bill);
}

/** Adds Node for an architecture to the tree. */
export function addNode(tree: string, architecture: Architecture): void {
  mkdirSync(join(tree, 'bin'), { recursive: true });
  const folder = mkdtempSync(join(dirname(tree), 'node-'));
  try {
    copyFileSync(nodeOf(architecture, folder), join(tree, 'bin/node'));
    chmodSync(join(tree, 'bin/node'), 0o755);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the path of the locked Node, downloaded if this machine has another architecture. */
function nodeOf(architecture: Architecture, folder: string): string {
  const name = `node-linux-${architecture}`;
  if (architecture === process.arch) return join(root, `node_modules/${name}/bin/node`);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const entry = lock.packages[`node_modules/${name}`];
  if (!entry) throw new Error(`${name} is not in the lockfile`);
  const pack = ['pack', '--silent', '--pack-destination', folder, `${name}@${entry.version}`];
  const archive = join(folder, execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' }).trim());
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (integrity !== entry.integrity) throw new Error(`${name}@${entry.version} is not what the lockfile names`);
  execFileSync('tar', ['--extract', '--file', archive, '-C', folder]);
  return join(folder, 'package/bin/node');
}

/** Writes an archive that depends only on its content: names sorted, one owner, one time. */
export function writeArchive(archive: string, folder: string, name: string): void {
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
  const same = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u+w,go-w,a+rX'];
  const options = ['--create', ...same, '--use-compress-program', 'gzip -n', '--file', archive];
  execFileSync('tar', [...options, '-C', folder, name]);
}
