// Applies patches/NAME+VERSION.patch, unified diffs in the layout of patch-package, to what npm has installed. Runs when
// loaded, and uses nothing but Node: the production image has neither git nor patch.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The text with every hunk applied, or null where a hunk does not fit. Lines of `from` become lines of `to`. */
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
  const staged = new Map();
  for (const patch of readdirSync(`${directory}patches`).filter((name) => name.endsWith('.patch'))) {
    const [name] = patch.split('+', 1);
    if (!existsSync(`${directory}node_modules/${name}`)) continue;
    // Git may have checked it out with the line ends of Windows.
    const diff = readFileSync(`${directory}patches/${patch}`, 'utf8').replaceAll('\r\n', '\n').trimEnd();
    for (const section of diff.split(/^--- a\/.*\n\+\+\+ b\//m).slice(1)) {
      const [path, ...hunks] = section.trimEnd().split(/\n@@.*@@.*\n/);
      const lines = hunks.map((hunk) => hunk.split('\n'));
      const text = staged.get(directory + path) ?? readFileSync(directory + path, 'utf8');
      const patched = replaceHunks(text, lines, '-', '+');
      if (patched !== null) staged.set(directory + path, patched);
      else if (replaceHunks(text, lines, '+', '-') === null) {
        throw new Error(
          `${patch} fits neither as new nor as already applied to ${path}. Run \`npm ci\` for a fresh copy; ` +
            'after an upgrade, see docs/decisions/0013-patched-postgres-driver.md for what each hunk is for.',
        );
      }
    }
  }
  // Written aside and renamed, so that a process that starts now never reads half a file.
  for (const [path, patched] of staged) writeFileSync(`${path}.patched`, patched);
  for (const path of staged.keys()) renameSync(`${path}.patched`, path);
}

applyPatches(root);
