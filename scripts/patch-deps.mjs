// postgres 3.4.9 keeps its row index when a query fails while rows are streaming, so the next query
// on that connection resolves with holes. One line in each build of the driver resets the index;
// packages/db refuses to start without it.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BROKEN = 'function ErrorResponse(x) {\n';
const FIXED = `${BROKEN}    rows = 0\n`;

function patchDriver(packageDirectory) {
  if (!existsSync(packageDirectory)) return;
  for (const build of ['src', 'cjs/src', 'cf/src']) {
    const path = join(packageDirectory, build, 'connection.js');
    const text = readFileSync(path, 'utf8');
    if (text.includes(FIXED)) continue;
    if (text.split(BROKEN).length !== 2) {
      throw new Error(
        `${path} does not hold the text that the row index patch replaces. ` +
          'If postgres was upgraded, see whether it resets the index by itself, and drop or adapt scripts/patch-deps.mjs.',
      );
    }
    // Written aside and renamed, so that a process that starts now never reads half a file.
    writeFileSync(`${path}.patched`, text.replace(BROKEN, FIXED));
    renameSync(`${path}.patched`, path);
  }
}

patchDriver(fileURLToPath(new URL('../node_modules/postgres', import.meta.url)));
