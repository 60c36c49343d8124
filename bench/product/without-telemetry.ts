import { registerHooks } from 'node:module';

// Preloaded into the product to measure the cost of its telemetry: no metrics are counted, sampled or evaluated, and
// nothing is logged about a message.
const silent: Readonly<Record<string, string>> = {
  'core/src/process/metrics.ts': `
    const nothing = () => undefined;
    export const createMetrics = () => ({
      count: nothing, observe: nothing, shift: nothing, source: nothing, publish: nothing, read: () => [],
    });`,
  'core/src/process/sampled-log.ts': 'export const createSampledLog = () => ({ info() {} });',
  'core/src/metrics/watch-instance.ts': `
    export const WATCH_MS = 15000;
    export const createInstanceWatch = () => ({ process_id: '', turn: async () => false, stop: async () => undefined });
    export const startInstanceWatch = () => ({ stop: async () => undefined });`,
};

registerHooks({
  load(url, context, next) {
    const name = Object.keys(silent).find((path) => url.endsWith(path));
    if (name === undefined) return next(url, context);
    return { format: 'module', source: silent[name] ?? '', shortCircuit: true };
  },
});
