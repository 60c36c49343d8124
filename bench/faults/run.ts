import { parseArgs } from 'node:util';

// npm run bench:faults -- [--plan slice|full|backlog|mutants|neighbors|partition] [--seed TEXT] [--json FILE] [--logs
// DIR] [--unjudged-speed] [--old-api DIR] [--old-worker DIR]
// Exits with 1 if a criterion does not hold. Prints the seed.

const { values } = parseArgs({ options: { plan: { type: 'string' } }, strict: false });

// Everything still running is killed with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.plan === 'neighbors') await import('./neighbors/run-neighbors.ts');
else if (values.plan === 'partition') await import('./run-partition.ts');
else await import('./run-kills.ts');
