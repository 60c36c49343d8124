import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorsFile, errorsPage } from '../../../../scripts/list-errors.ts';
import { reasons } from './errors.ts';

it('docs/errors.md lists the reasons as they are; node scripts/list-errors.ts lists them again', () => {
  const page = readFileSync(errorsFile, 'utf8');

  expect(page).toBe(errorsPage());
  for (const reason of Object.keys(reasons)) expect(page).toContain(`| \`${reason}\` |`);
});
