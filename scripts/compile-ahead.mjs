// Runs while an image is built or a release is installed, under the service's user and NODE_COMPILE_CACHE: loads the
// modules of the service and its commands, so that no start has to compile them. Starts nothing.
import { existsSync } from 'node:fs';

// A release has a bundle of the service.
const service = existsSync(new URL('../bundle', import.meta.url))
  ? ['start', 'admin', 'graphql', 'inbound', 'worker'].map((name) => `../bundle/${name}.js`)
  : [
      '../apps/server/src/start.ts',
      '../apps/server/src/banner.ts',
      '../apps/server/src/outage-log.ts',
      ...['admin', 'inbound', 'worker'].map((role) => `../apps/${role}/src/index.ts`),
      // Loaded by the first request for it.
      '../apps/admin/src/graphql/graphql-api.ts',
    ];
for (const path of [...service, '../packages/cli/src/run-command.ts']) await import(path);
