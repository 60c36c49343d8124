import { explainOldNode, keepCompiled, runsTypeScript } from './pinned-node.mjs';

// In this very process: signals, the exit code and Ctrl-C then need no forwarding.
if (runsTypeScript()) {
  keepCompiled();
  process.argv.push('--build-dashboard');
  await import('../apps/server/src/main.ts');
} else {
  explainOldNode();
  process.exitCode = 1;
}
