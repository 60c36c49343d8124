// npm run test:install: installs a release with deploy/install.sh on a Debian that has Postgres 15, Postfix and HAProxy
// but no Node, upgrades it under load and rolls it back. Needs root, mmdebstrap and Debian's archive.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drillBlocks } from '../doc-blocks.ts';
import { require, root, show } from '../image/buildah.ts';
import { readVersion } from './version.ts';

const SUITE = 'bookworm';
const PACKAGES = [
  'ca-certificates',
  'openssl',
  'postgresql',
  'postfix',
  'haproxy',
  'nginx-light',
  'caddy',
  'pgbackrest',
  'cron',
];
const BASE = `/var/tmp/postrider-install/${SUITE}-${PACKAGES.length}`;
const NEXT_MIGRATION = fileURLToPath(new URL('next.sql', import.meta.url));
const DRILL = fileURLToPath(new URL('install-drill.ts', import.meta.url));

require('mmdebstrap', 'unshare');
if (!existsSync(BASE)) makeBase();
// The first block of the page builds the release.
const [BUILD = ''] = drillBlocks('docs/self-hosting.md', 'test:install');
const folder = mkdtempSync(join(tmpdir(), 'postrider-install-'));
const tree = join(folder, 'root');
try {
  execFileSync('cp', ['--archive', '--reflink=auto', BASE, tree]);
  const version = readVersion();
  execFileSync('sh', ['-e', '-c', BUILD], { cwd: root, stdio: 'inherit' });
  const name = `postrider-${version}-linux-${process.arch}.tar.gz`;
  copyFileSync(join(root, 'dist', name), join(tree, 'root', name));
  const next = copyRelease(name, version, `${version}-next`);
  copyFileSync(NEXT_MIGRATION, join(tree, `root/postrider-${next}`, 'packages/db/migrations/9999_next.sql'));
  const broken = copyRelease(name, version, `${version}-broken`);
  writeFileSync(join(tree, `root/postrider-${broken}`, 'bundle/main.js'), 'process.exit(1);\n');
  // The machine's own network and mounts: loopback alone, and nothing that stays behind.
  const namespaces = ['--mount', '--net', '--propagation', 'private'];
  show('unshare', [...namespaces, process.execPath, DRILL, tree, version, next, broken]);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Creates Debian's smallest system with what the guide names, once. */
function makeBase(): void {
  console.log(`Making a Debian ${SUITE} with ${PACKAGES.join(', ')} …`);
  const part = `${BASE}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const include = `--include=${PACKAGES.join(',')}`;
  show('mmdebstrap', ['--variant=minbase', include, '--quiet', SUITE, part]);
  renameSync(part, BASE);
}

/** Unpacks the same code under another version: a release to upgrade to. */
function copyRelease(archive: string, version: string, next: string): string {
  execFileSync('tar', ['--extract', '--file', join(tree, 'root', archive), '-C', folder]);
  const target = join(tree, `root/postrider-${next}`);
  execFileSync('mv', [join(folder, `postrider-${version}`), target]);
  writeFileSync(join(target, 'RELEASE'), `${next}\n`);
  return next;
}
