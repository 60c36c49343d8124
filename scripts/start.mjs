import { explainOldNode, keepCompiled, runsTypeScript } from './pinned-node.mjs';

// The server runs in this same process, so that signals, the exit code and Ctrl-C need no forwarding.
if (runsTypeScript()) {
  keepCompiled();
  process.argv.push('--build-dashboard');
  await import('../apps/server/src/main.ts');
} else {
  explainOldNode();
  process.exitCode = 1;
}
