import { join } from 'node:path';
import { explainOldNode, findNode, root } from './pinned-node.mjs';
import { runProgram } from './run-program.mjs';

const node = findNode();
if (node) {
  runProgram(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)]);
} else {
  explainOldNode();
  process.exitCode = 1;
}
