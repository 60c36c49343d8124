// Applies patches/NAME+VERSION.patch, unified diffs in the layout of patch-package, to the packages npm has installed.
// Runs on import, and uses only Node built-ins: the production image has neither git nor patch.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Returns the text with every hunk applied, or null if a hunk does not fit. Lines of `from` become lines of `to`. */
function replaceHunks(text, hunks, from, to) {
  let rest = text;
  let done = '';
  for (const lines of hunks) {
    const without = (sign) => lines.filter((line) => line[0] !== sign).map((line) => `${line.slice(1)}\n`);
    const before = without(to).join('');
    const after = without(from).join('');
    const index = rest.indexOf(before);
    if (index === -1) return null;
    done += rest.slice(0, index) + after;
    rest = rest.slice(index + before.length);
  }
  return done + rest;
}

function applyPatches(directory) {
  const staged = [];
  for (const patch of readdirSync(`${directory}patches`).filter((name) => name.endsWith('.patch'))) {
    const [name] = patch.split('+', 1);
    if (!existsSync(`${directory}node_modules/${name}`)) continue;
    // Git may have checked out the patch with Windows line endings.
    const diff = readFileSync(`${directory}patches/${patch}`, 'utf8').replaceAll('\r\n', '\n').trimEnd();
    for (const section of diff.split(/^--- a\/.*\n\+\+\+ b\//m).slice(1)) {
      const [path, ...hunks] = section.trimEnd().split(/\n@@.*@@.*\n/);
      const lines = hunks.map((hunk) => hunk.split('\n'));
      const text = readFileSync(directory + path, 'utf8');
      const patched = replaceHunks(text, lines, '-', '+');
      if (patched !== null) staged.push([directory + path, patched]);
      else if (replaceHunks(text, lines, '+', '-') === null) {
        throw new Error(
          `${patch} fits neither as new nor as already applied to ${path}. Run \`npm ci\` for a fresh copy; ` +
            'after an upgrade, see docs/decisions/0013-patched-postgres-driver.md for what each hunk is for.',
        );
      }
    }
  }
  // Each file is written to a temporary file and renamed, so that a process starting now never reads half a file.
  for (const [path, patched] of staged) writeFileSync(`${path}.patched`, patched);
  for (const [path] of staged) renameSync(`${path}.patched`, path);
}

applyPatches(root);
