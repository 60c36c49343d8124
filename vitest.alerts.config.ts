import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Runs the tests of the Prometheus rules, separate from the other tests because they require Debian's package
// prometheus.
const { projects: _, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['**/*.alerts.ts'],
      exclude: ['**/node_modules/**'],
      pool: 'forks',
      globalSetup: ['packages/testing/src/global-setup.ts'],
    },
  }),
);
