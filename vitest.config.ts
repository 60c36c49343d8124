import { defineConfig } from 'vitest/config';

// Every test file is in exactly one project: rules reads the tree, units needs no database, and the third project gets
// a database. The programs in examples have tests of their own, which `npm run test:docs` runs.
const rules = ['packages/testing/src/{house-rules,source-text}.test.ts'];
const units = [
  'bench/**/*.test.ts',
  'packages/{mail,net,sdk}/**/*.test.ts',
  'scripts/**/*.test.ts',
  'packages/testing/src/{breaking-changes,dns-zone,smtp-sink,webhook-sink}.test.ts',
];
const everywhere = ['**/node_modules/**', '**/dist/**', '**/.postrider/**'];

export default defineConfig({
  // Node always resolves graphql to the package's main file; Vite would pick the ES module for our imports, and schemas
  // from two copies of graphql are incompatible.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    reporters: ['default', './packages/testing/src/summary-reporter.ts'],
    // One more worker than a small machine has CPUs, because many tests wait for a timer or a process of their own.
    maxWorkers: 3,
    // Generous limits for slow or busy machines. A passing test does not wait, and no test proves speed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    projects: [
      { extends: true, test: { name: 'rules', include: rules, exclude: everywhere, pool: 'threads' } },
      { extends: true, test: { name: 'units', include: units, exclude: everywhere, pool: 'threads' } },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['**/*.test.ts'],
          exclude: [...everywhere, ...rules, ...units, 'examples/**'],
          pool: 'forks',
          // Files share a worker, because each file closes the resources that it opens, and a third of a short file's
          // CPU time went into its imports.
          isolate: false,
          globalSetup: 'packages/testing/src/global-setup.ts',
        },
      },
    ],
  },
});
