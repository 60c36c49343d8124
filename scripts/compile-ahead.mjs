// Runs while an image is built, under the service's user and NODE_COMPILE_CACHE: loads what the service and its
// commands load, so that no start has to compile it. Starts nothing.
const loaded = [
  '../apps/server/src/start.ts',
  '../apps/server/src/banner.ts',
  '../apps/server/src/outage-log.ts',
  '../packages/cli/src/run-command.ts',
];
for (const path of loaded) await import(path);
