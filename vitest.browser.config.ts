import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Runs the tests of pages in a real browser, separate from the other tests because they require Chromium on the
// machine.
const { projects: _, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['**/*.browser.ts'],
      exclude: ['**/node_modules/**'],
      pool: 'forks',
      globalSetup: ['packages/testing/src/global-setup.ts', 'apps/server/test/browser/build-dashboard.ts'],
    },
  }),
);
