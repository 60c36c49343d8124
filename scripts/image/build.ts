// npm run image:build: builds the Dockerfile with Debian's buildah if there is no Docker engine and no image registry
// is reachable. The base image is then created with mmdebstrap, with the Node that `npm start` uses; with Docker,
// `docker build -t postrider .` builds the same file on Docker's own base.
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readVersion } from '../release/version.ts';
import { ask, baseName, buildah, hasImage, image, require, root, show } from './buildah.ts';

const SUITE = 'bookworm';
// The file from which the base image's npm reads settings for all users. The file is part of the base, so that a mount
// over it leaves nothing behind.
const NPM_SETTINGS = '/usr/local/etc/npmrc';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

require('buildah', 'mmdebstrap');
const base = baseName();
const folder = mkdtempSync(join(tmpdir(), 'postrider-image-'));
try {
  if (process.argv.includes('--new-base') || !hasImage(base)) makeBase();
  const started = performance.now();
  show('buildah', buildah('bud', ...buildOptions(), '-t', image, '.'));
  console.log(`Built ${image} in ${Math.round((performance.now() - started) / 1000)} s.`);
  const [, archive] = /^--archive=(.+)$/.exec(process.argv.at(-1) ?? '') ?? [];
  if (archive !== undefined) {
    const target = `oci-archive:${archive}:postrider:${readVersion()}`;
    show('buildah', buildah('push', '--quiet', '--format', 'oci', image, target));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Creates Debian's smallest system with Node and npm, under the name used in the Dockerfile. */
function makeBase(): void {
  const tree = join(folder, 'base');
  const node = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) throw new Error(`${node} is missing: run npm ci`);
  console.log(`Making ${base} from Debian ${SUITE} and ${node} …`);
  show('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', '--quiet', SUITE, tree]);
  for (const name of ['bin', 'etc', 'lib/node_modules']) mkdirSync(join(tree, 'usr/local', name), { recursive: true });
  copyFileSync(node, join(tree, 'usr/local/bin/node'));
  cpSync(npmFolder(), join(tree, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'));
  writeFileSync(join(tree, NPM_SETTINGS), '');
  const container = ask('buildah', buildah('from', 'scratch'));
  ask('buildah', buildah('add', '--quiet', container, tree, '/'));
  ask('buildah', buildah('config', '--cmd', '["node"]', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container));
  ask('buildah', buildah('commit', '--quiet', '--rm', container, base));
  rmSync(tree, { recursive: true, force: true });
}

function npmFolder(): string {
  const program = process.env.npm_execpath;
  if (program?.endsWith('npm-cli.js') !== true) throw new Error('run it as npm run image:build');
  return dirname(dirname(program));
}

/** Packages come from the registry of this machine's npm, which is not part of the image. */
function buildOptions(): string[] {
  const settings = join(folder, 'npmrc');
  const labels = { version: readVersion(), revision: ask('git', ['rev-parse', 'HEAD']) };
  const registry = ask('npm', ['config', 'get', 'registry']);
  writeFileSync(settings, `registry=${registry}\ncafile=${CERTIFICATES}\n`);
  return [
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `org.opencontainers.image.${name}=${value}`]),
    ...['--isolation', 'chroot', '--format', 'oci', '--layers=false', '--pull-never'],
    ...['--volume', `${settings}:${NPM_SETTINGS}:ro`, '--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`],
  ];
}
