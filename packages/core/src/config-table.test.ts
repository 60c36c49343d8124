import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configNames } from './config.ts';

const page = new URL('../../../docs/operations.md', import.meta.url);

it('docs/operations.md has a row for every variable of the environment, and for no other', () => {
  const table = /## Environment of the server\n([\s\S]*?)\n## /.exec(readFileSync(page, 'utf8'))?.[1] ?? '';

  const named = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? ''),
  );

  expect(named.sort()).toEqual([...configNames].sort());
});
