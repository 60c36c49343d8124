import { join, relative } from 'node:path';
import { build } from 'rolldown';

/** The folder in the tree of a release. */
const BUNDLE = 'bundle';

/**
 * Bundles the modules of the service in the tree of a release. Loading some 1,200 files takes half of a start's
 * processor time. The sources stay beside the bundle, because threads and the command line run from them.
 */
export async function bundleService(tree: string): Promise<void> {
  const target = join(tree, BUNDLE);
  await build({
    cwd: tree,
    // What scripts/compile-ahead.mjs loads without starting the service has a file of its own.
    input: {
      main: join(tree, 'apps/server/src/main.ts'),
      start: join(tree, 'apps/server/src/start.ts'),
      ...Object.fromEntries(
        ['admin', 'inbound', 'worker'].map((role) => [role, join(tree, `apps/${role}/src/index.ts`)]),
      ),
      graphql: join(tree, 'apps/admin/src/graphql/graphql-api.ts'),
    },
    platform: 'node',
    logLevel: 'warn',
    // Only for Cloudflare's runtime, and not installed.
    external: ['pg-cloudflare'],
    plugins: [
      {
        // Files that a module opens are found beside its source.
        name: 'locate sources',
        transform: (code, id) =>
          id.startsWith(tree) && code.includes('import.meta.url')
            ? code.replaceAll(
                'import.meta.url',
                `new URL(${JSON.stringify(`../${relative(tree, id)}`)}, import.meta.url).href`,
              )
            : null,
      },
    ],
    output: { dir: target, format: 'es', minify: false },
  });
}
