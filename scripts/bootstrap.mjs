// Makes a bare clone runnable: installs once per lockfile and platform. This script runs on the machine's own Node
// before any package exists, so it uses only Node built-ins.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MINIMUM = [20, 19];
const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'node_modules', '.bootstrap');
const quiet = process.argv.includes('--quiet');

function fail(message) {
  console.error(message);
  process.exit(1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  fail(
    `Node ${process.versions.node} is too old: Postrider needs Node ${MINIMUM.join('.')} or newer to install itself.\n` +
      'Install Node 24 from https://nodejs.org, then run the same command again.',
  );
}

const hash = createHash('sha256').update(`${process.platform}-${process.arch}\n`);
const patches = readdirSync(join(root, 'patches')).toSorted();
for (const file of ['package-lock.json', 'scripts/apply-patches.mjs', ...patches.map((name) => `patches/${name}`)]) {
  hash.update(readFileSync(join(root, file)));
}
const wanted = hash.digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8').trim() !== wanted) {
  // Progress goes to stderr, so that a command's output can be piped.
  if (!quiet) console.error('Installing dependencies (once, about half a minute) …');
  const npm = process.env.npm_execpath;
  const [command, ...before] =
    npm && /npm-cli\.c?js$/.test(npm) ? [process.execPath, npm] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  // NODE_ENV=production or a user's omit setting would skip packages that tests, checks and the embedded database need.
  const args = [...before, 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const started = performance.now();
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    stdio: quiet ? 'pipe' : ['ignore', 2, 2],
    encoding: 'utf8',
    shell: process.platform === 'win32' && command === 'npm.cmd',
  });
  if (error || status !== 0) {
    if (quiet) console.error(`${stdout ?? ''}${stderr ?? ''}`.trim());
    fail(
      `\`npm ci\` failed${error ? `: ${error.message}` : ` with exit code ${status}`}.\n` +
        'It needs the npm registry (see `npm config get registry`) and write access to this directory. ' +
        'Fix what it says above and run the same command again.',
    );
  }
  // npm skips install scripts if ignore-scripts is set; the patch, which runs on import, is not optional.
  await import('./apply-patches.mjs');
  writeFileSync(stamp, `${wanted}\n`);
  if (!quiet) console.error(`Installed in ${Math.round((performance.now() - started) / 1000)} s.`);
}

// npm sends SIGTERM to the shell that runs a script, not to the program. Without `exec`, the shell would die and the
// server would continue to run. Windows has neither the problem nor the command.
if (process.platform === 'win32') {
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.bin', 'exec.cmd'), '@%*\r\n');
}
