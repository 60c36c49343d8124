import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytesIn, leftoverDatabases, removeLeftover } from './embedded-leftovers.ts';

let root: string;
let parent: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'postrider-leftovers-')));
  parent = join(root, 'databases');
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** Creates a database as a start does for a data directory that the Postgres user cannot enter. */
function bodyOf(name: string, refers: boolean | string): string {
  const directory = join(parent, `cluster-${name}`);
  mkdirSync(join(directory, 'data'), { recursive: true });
  const data_dir = join(root, name);
  writeFileSync(join(directory, 'owner'), data_dir);
  writeFileSync(join(directory, 'data', 'PG_VERSION'), '18\n');
  if (refers === false) return directory;
  mkdirSync(data_dir);
  const state = { directory: refers === true ? directory : refers, password: 'p' };
  writeFileSync(join(data_dir, 'embedded.json'), JSON.stringify(state));
  return directory;
}

it('a database whose data directory is missing, emptied or replaced is listed (newcomer N20)', () => {
  bodyOf('used', true);
  const deleted = bodyOf('gone', false);
  const replaced = bodyOf('replaced', '/var/lib/postrider/cluster-other');
  const emptied = bodyOf('emptied', true);
  rmSync(join(root, 'emptied', 'embedded.json'));
  mkdirSync(join(parent, 'binaries'));

  const leftovers = leftoverDatabases([parent, join(root, 'nowhere')]);

  expect(leftovers.map(({ directory }) => directory).sort()).toEqual([deleted, replaced, emptied].sort());
  expect(leftovers.find(({ directory }) => directory === deleted)?.made_for).toBe(join(root, 'gone'));
  expect(bytesIn(deleted)).toBe('18\n'.length + join(root, 'gone').length);
});

it('a database that an unreadable file may refer to is not listed', () => {
  bodyOf('damaged', true);
  writeFileSync(join(root, 'damaged', 'embedded.json'), '{');

  expect(leftoverDatabases([parent])).toEqual([]);
});

it('a database is removed only if it is still unreferenced', () => {
  const deleted = bodyOf('gone', false);
  const used = bodyOf('used', true);

  expect(removeLeftover(deleted, false, [parent])).toBe('removed');
  expect(removeLeftover(used, true, [parent])).toBe('not_left_over');
  expect(removeLeftover(join(root, 'used'), true, [parent])).toBe('not_left_over');

  expect([deleted, used, join(root, 'used')].map((path) => existsSync(path))).toEqual([false, true, true]);
});

it('a database whose data directory may be on an unmounted volume is kept, unless declared deleted', () => {
  const far = bodyOf('far', false);
  writeFileSync(join(far, 'owner'), join(root, 'volume', 'far'));

  expect(removeLeftover(far, false, [parent])).toBe('folder_missing');
  expect(existsSync(far)).toBe(true);

  expect(removeLeftover(far, true, [parent])).toBe('removed');
  expect(existsSync(far)).toBe(false);
});

it('a database that disappears during measurement has 0 bytes', () => {
  const directory = join(parent, 'cluster-gone');

  const bytes = bytesIn(directory);

  expect(bytes).toBe(0);
});
