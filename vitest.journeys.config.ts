import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Runs the tests that start their own processes or need real time to pass.
const { projects: _, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['**/*.journey.ts'],
      exclude: ['**/node_modules/**'],
      pool: 'forks',
      globalSetup: ['packages/testing/src/global-setup.ts'],
    },
  }),
);
