import { parseArgs } from 'node:util';

// npm run bench:faults -- [--plan slice|full|backlog|mutants|neighbors|partition] [--seed TEXT] [--json FILE]
//   [--logs DIR] [--unjudged-speed] [--old-api DIR] [--old-worker DIR]
// Exits with 1 where a criterion does not hold. The seed is printed.

const { values } = parseArgs({ options: { plan: { type: 'string' } }, strict: false });

// Everything that is running ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.plan === 'neighbors') await import('./neighbors/run-neighbors.ts');
else if (values.plan === 'partition') await import('./run-partition.ts');
else await import('./run-kills.ts');
