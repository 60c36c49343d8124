import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Runs the attack attempts, separate from the other tests so that scripts/attack-holes.ts can run them alone.
const { projects: _, ...test } = base.test ?? {};

export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['**/*.attack.ts'],
      exclude: ['**/node_modules/**'],
      pool: 'forks',
      globalSetup: ['packages/testing/src/global-setup.ts'],
    },
  }),
);
