import { defineConfig } from 'vitest/config';

// Every test file is in exactly one project: rules reads the tree, units needs no database, the rest gets one.
const rules = ['packages/testing/src/{house-rules,source-text}.test.ts'];
const units = [
  'bench/**/*.test.ts',
  'packages/{mail,net,sdk}/**/*.test.ts',
  'scripts/**/*.test.ts',
  'packages/testing/src/{breaking-changes,dns-zone,smtp-sink,webhook-sink}.test.ts',
];
const everywhere = ['**/node_modules/**', '**/dist/**', '**/.postrider/**'];

export default defineConfig({
  // Node takes the package's main for every import of it; Vite would take its module for ours, and schemas of two
  // copies of graphql do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    reporters: ['default', './packages/testing/src/summary-reporter.ts'],
    // One more than the processors of a small machine, as many tests wait for a timer or a process of their own.
    maxWorkers: 3,
    // Patience for machines that are slow or busy. It costs nothing where things happen, and no test proves speed.
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
          exclude: [...everywhere, ...rules, ...units],
          pool: 'forks',
          // Each file closes what it opened; a third of the processor time of a short one went into its imports.
          isolate: false,
          globalSetup: 'packages/testing/src/global-setup.ts',
        },
      },
    ],
  },
});
