// postgres 3.4.9 mishandles failed queries and lost connections, and keeps more of them than it needs. Each patch below
// is a few lines in each build of the driver; packages/db refuses to start without them.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const patches = [
  {
    what: 'A query that fails while rows are streaming leaves its row index to the next query, which gets holes.',
    file: 'connection.js',
    before: 'function ErrorResponse(x) {\n',
    after: 'function ErrorResponse(x) {\n    rows = 0\n',
  },
  {
    what: 'A write that comes after the end of its connection throws where nobody can catch it, and ends the process.',
    file: 'connection.js',
    before: '    const x = socket.write(chunk, fn)\n',
    after:
      '    if (!socket) {\n' +
      '      chunk = nextWriteTimer = null\n' +
      "      error(Errors.connection('CONNECTION_CLOSED', options, socket))\n" +
      '      return false\n' +
      '    }\n' +
      '    const x = socket.write(chunk, fn)\n',
  },
  {
    what: 'Bytes that were never sent are kept for the next connection, which then is mute or starts with them.',
    file: 'connection.js',
    before: '    incomings = null\n    clearImmediate(nextWriteTimer)\n',
    after: '    incomings = null\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n',
  },
  {
    what: 'Queries and errors of a lost connection are kept for the next one, whose answers then go to the wrong query.',
    file: 'connection.js',
    before:
      '    if (initial)\n      return reconnect()\n\n' +
      "    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n",
    after:
      "    if (!initial && (query || sent.length)) error(Errors.connection('CONNECTION_CLOSED', options, socket))\n" +
      '    query = results = errorResponse = null\n' +
      '    result = new Result()\n' +
      '    if (initial)\n      return reconnect()\n\n',
  },
  {
    what: 'The rejection of a query of its own, at the begin of a connection, is left unhandled and ends the process.',
    file: 'connection.js',
    before: '        return fetchArrayTypes()\n',
    after: '        return fetchArrayTypes().catch(() => {})\n',
  },
  {
    what: 'A transaction whose connection is lost sends its next statement into whatever runs on the new connection.',
    file: 'index.js',
    before: '        new Promise((_, reject) => connection.onclose = reject)\n',
    after:
      '        new Promise((_, reject) => connection.onclose = e => {\n' +
      '          lost = e\n' +
      '          while (queries.length) queries.shift().reject(e)\n' +
      '          reject(e)\n' +
      '        })\n',
  },
  {
    what: 'The same: the statement is refused instead.',
    file: 'index.js',
    before: '        q.catch(e => uncaughtError || (uncaughtError = e))\n',
    after: '        q.catch(e => uncaughtError || (uncaughtError = e))\n        if (lost) return q.reject(lost)\n',
  },
  {
    what: 'The same: where it is remembered.',
    file: 'index.js',
    before: '    let savepoints = 0\n      , connection\n',
    after: '    let savepoints = 0\n      , lost = null\n      , connection\n',
  },
  {
    what: 'Idle connections take turns, so that a little work keeps all of them open for ever.',
    file: 'index.js',
    before: '    if (open.length)\n      return go(open.shift(), query)\n',
    after: '    if (open.length)\n      return go(open.pop(), query)\n',
  },
  {
    what: 'The same: the one that was used last is taken.',
    file: 'queue.js',
    before: '    push: (x) => (xs.push(x), x),\n',
    after:
      '    push: (x) => (xs.push(x), x),\n' +
      '    pop: () => {\n' +
      '      const out = xs.pop()\n' +
      '      if (index === xs.length) {\n' +
      '        index = 0\n' +
      '        xs = []\n' +
      '      }\n' +
      '      return out\n' +
      '    },\n',
  },
  {
    what: 'A query that holds functions of its own to end it is garbage that only a full collection finds.',
    file: 'query.js',
    before:
      '    this.resolve = x => (this.active = false, resolve(x))\n' +
      '    this.reject = x => (this.active = false, reject(x))\n\n',
    after: '    this.settling = { resolve, reject }\n\n',
  },
  {
    what: 'The same: as methods.',
    file: 'query.js',
    before: '  get origin() {\n',
    after:
      '  resolve(x) {\n    this.active = false\n    this.settling.resolve(x)\n  }\n\n' +
      '  reject(x) {\n    this.active = false\n    this.settling.reject(x)\n  }\n\n' +
      '  get origin() {\n',
  },
];

function patchDriver(packageDirectory) {
  if (!existsSync(packageDirectory)) return;
  for (const build of ['src', 'cjs/src', 'cf/src']) {
    for (const file of ['connection.js', 'index.js', 'query.js', 'queue.js']) {
      const path = join(packageDirectory, build, file);
      const original = readFileSync(path, 'utf8');
      let text = original;
      for (const patch of patches.filter((one) => one.file === file)) {
        if (text.includes(patch.after)) continue;
        if (text.split(patch.before).length !== 2) {
          throw new Error(
            `${path} does not hold the text of this patch: ${patch.what} ` +
              'If postgres was upgraded, see whether it is repaired there, and drop or adapt scripts/patch-deps.mjs.',
          );
        }
        text = text.replace(patch.before, () => patch.after);
      }
      if (text === original) continue;
      // Written aside and renamed, so that a process that starts now never reads half a file.
      writeFileSync(`${path}.patched`, text);
      renameSync(`${path}.patched`, path);
    }
  }
}

patchDriver(fileURLToPath(new URL('../node_modules/postgres', import.meta.url)));
