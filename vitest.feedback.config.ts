import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Runs the reports of each feedback provider about 1,000 emails, which takes minutes.
const { projects: _, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['**/*.thousand.ts'],
      exclude: ['**/node_modules/**'],
      pool: 'forks',
      globalSetup: ['packages/testing/src/global-setup.ts'],
    },
  }),
);
