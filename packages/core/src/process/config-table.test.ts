import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configNames } from './config.ts';

const page = new URL('../../../../docs/settings.md', import.meta.url);
const compose = new URL('../../../../docker-compose.yml', import.meta.url);
/** Variables fixed by the image and the published ports. */
const SETTLED = ['CAPTURE_PORT', 'DATA_DIR', 'HOST', 'PORT'];

it('docs/settings.md has exactly one row for every environment variable, and no other rows', () => {
  const table = /## Environment variables\n([\s\S]*?)\n## /.exec(readFileSync(page, 'utf8'))?.[1] ?? '';

  const names = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? ''),
  );

  expect(names.sort()).toEqual([...configNames].sort());
});

it('docker-compose.yml passes through exactly the variables that it does not set itself', () => {
  const text = readFileSync(compose, 'utf8');
  const shared = /^x-environment:.*\n((?: {2}.*\n)+)/m.exec(text)?.[1] ?? '';
  const app = /^ {2}app:\n((?: {4}.*\n)+)/m.exec(text)?.[1] ?? '';

  const passed = [...`${shared}${app}`.matchAll(/^ +([A-Z_]+):/gm)].map((match) => match[1] ?? '');

  expect(passed.sort()).toEqual(configNames.filter((name) => !SETTLED.includes(name)).sort());
});
