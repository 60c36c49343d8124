import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Returns the URLs of the modules that Node loads for the given ones. */
function loadedBy(...modules: readonly string[]): string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
    for (const path of ${JSON.stringify(modules)}) await import(path);
    process.stdout.write(urls.join('\\n'));
  `;
  const args = ['--input-type=module', '--eval', program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n');
}

it('the admin role loads the routes, and GraphQL only when it is used', () => {
  const urls = loadedBy('./apps/server/src/start.ts', './apps/admin/src/index.ts');

  expect(urls.some((url) => url.endsWith('/apps/admin/src/trpc/router.ts'))).toBe(true);
  expect(urls.filter((url) => /\/node_modules\/(?:graphql|graphql-yoga|@pothos)\//.test(url))).toEqual([]);
  expect(urls.filter((url) => url.includes('/apps/admin/src/graphql/'))).toEqual([]);
});

it('a start loads no role that it may not run', () => {
  const urls = loadedBy('./apps/server/src/start.ts');

  expect(urls.some((url) => url.endsWith('/apps/server/src/roles.ts'))).toBe(true);
  expect(urls.filter((url) => /\/apps\/(?:admin|inbound|worker)\//.test(url))).toEqual([]);
});
