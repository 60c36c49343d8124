import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const PROGRAM = `
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
await import('./apps/server/src/start.ts');
process.stdout.write(urls.join('\\n'));
`;

it('a start loads the routes, and GraphQL only when it is used', () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

  expect(stderr).toBe('');
  const urls = stdout.split('\n');
  expect(urls.some((url) => url.endsWith('/apps/admin/src/trpc/router.ts'))).toBe(true);
  expect(urls.filter((url) => /\/node_modules\/(?:graphql|graphql-yoga|@pothos)\//.test(url))).toEqual([]);
  expect(urls.filter((url) => url.includes('/apps/admin/src/graphql/'))).toEqual([]);
});
