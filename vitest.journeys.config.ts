import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Tests that start their own processes, and those that need real time to pass.
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
