import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorsFile, errorsPage } from '../../../../scripts/list-errors.ts';
import { reasons } from './errors.ts';

it('docs/errors.md lists the current reasons; node scripts/list-errors.ts regenerates it', () => {
  const page = readFileSync(errorsFile, 'utf8');

  expect(page).toBe(errorsPage());
  for (const reason of Object.keys(reasons)) expect(page).toContain(`| \`${reason}\` |`);
});
