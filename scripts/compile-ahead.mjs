// Runs while an image is built, under the service's user and NODE_COMPILE_CACHE: loads the modules of the service and
// its commands, so that no start has to compile them. Starts nothing.
const loaded = [
  '../apps/server/src/start.ts',
  '../apps/server/src/banner.ts',
  '../apps/server/src/outage-log.ts',
  // Loaded by the first request for it.
  '../apps/admin/src/graphql/graphql-api.ts',
  '../packages/cli/src/run-command.ts',
];
for (const path of loaded) await import(path);
