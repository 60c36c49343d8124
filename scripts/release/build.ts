// npm run release: writes dist/postrider-VERSION-linux-ARCH.tar.gz, which needs no npm on the machine that installs it:
// the code, its production dependencies, the built dashboard and Node. deploy/install.sh inside it installs it.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const node = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
// What only development needs. The manifest of packages/testing stays, because the lockfile names it.
const LEFT_OUT =
  /^(\.(?!npmrc)|bench\/|vitest|Dockerfile|docker-compose|packages\/testing\/src\/|docs\/screens\/)|\.test\.ts$|(^|\/)test\//;

/** Writes the release and returns the archive's path. */
function buildRelease(): string {
  if (!existsSync(node)) throw new Error(`${node} is missing: a release is built on Linux, after npm ci.`);
  const folder = mkdtempSync(join(tmpdir(), 'postrider-release-'));
  const version = readVersion();
  const target = join(root, 'dist');
  const name = `postrider-${version}`;
  const tree = join(folder, name);
  try {
    copySources(tree);
    execFileSync('npm', ['run', '--silent', 'build', '--workspace=@postrider/dashboard'], {
      cwd: root,
      stdio: 'inherit',
    });
    cpSync(join(root, 'apps/dashboard/dist'), join(tree, 'apps/dashboard/dist'), { recursive: true });
    // Install scripts run, because one of them patches the Postgres driver.
    const install = ['ci', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', install, { cwd: tree, stdio: 'inherit' });
    mkdirSync(join(tree, 'bin'));
    copyFileSync(node, join(tree, 'bin/node'));
    chmodSync(join(tree, 'bin/node'), 0o755);
    writeFileSync(join(tree, 'RELEASE'), `${version}\n`);
    mkdirSync(target, { recursive: true });
    const archive = join(target, `${name}-linux-${process.arch}.tar.gz`);
    execFileSync('tar', ['--create', '--gzip', '--owner=0', '--group=0', '--file', archive, '-C', folder, name]);
    return archive;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copySources(tree: string): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files.filter((one) => !LEFT_OUT.test(one) && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(root, file), join(tree, file), { verbatimSymlinks: true });
  }
}

/** Returns the version of this checkout. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

if (import.meta.main) console.log(buildRelease());
