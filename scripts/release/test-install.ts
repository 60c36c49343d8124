// npm run test:install: installs a release with deploy/install.sh on a Debian that has Postgres 15, Postfix and HAProxy
// but no Node, upgrades it under load and rolls it back. Needs root, mmdebstrap and Debian's archive.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { require, show } from '../image/buildah.ts';
import { buildRelease, readVersion } from './build.ts';

const SUITE = 'bookworm';
const PACKAGES = ['ca-certificates', 'openssl', 'postgresql-15', 'postfix', 'haproxy', 'nginx-light', 'caddy'];
const BASE = `/var/tmp/postrider-install/${SUITE}-${PACKAGES.length}`;
const DRILL = fileURLToPath(new URL('install-drill.ts', import.meta.url));

require('mmdebstrap', 'unshare');
if (!existsSync(BASE)) makeBase();
const folder = mkdtempSync(join(tmpdir(), 'postrider-install-'));
const tree = join(folder, 'root');
try {
  execFileSync('cp', ['--archive', '--reflink=auto', BASE, tree]);
  const version = readVersion();
  const releases = [unpackRelease(version), copyRelease(version, `${version}-next`)];
  // The machine's own network and mounts: loopback alone, and nothing that stays behind.
  const namespaces = ['--mount', '--net', '--propagation', 'private'];
  show('unshare', [...namespaces, process.execPath, DRILL, tree, ...releases.map((path) => path.slice(tree.length))]);
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

function unpackRelease(version: string): string {
  const archive = buildRelease(version, folder);
  mkdirSync(join(tree, 'root'), { recursive: true });
  execFileSync('tar', ['--extract', '--file', archive, '-C', join(tree, 'root')]);
  console.log(`ok     ${basename(archive)} is built`);
  return join(tree, `root/postrider-${version}`);
}

/** Makes the release to upgrade to: the same code under another version. */
function copyRelease(version: string, next: string): string {
  const target = join(tree, `root/postrider-${next}`);
  execFileSync('cp', ['--archive', join(tree, `root/postrider-${version}`), target]);
  writeFileSync(join(target, 'RELEASE'), `${next}\n`);
  return target;
}
