import { join } from 'node:path';
import type { NextConfig } from 'next';

const config: NextConfig = {
  // The client is TypeScript source in a clone of the repository, outside this folder. A release needs neither line.
  transpilePackages: ['@postrider/sdk'],
  turbopack: { root: join(import.meta.dirname, '../..') },
};

export default config;
