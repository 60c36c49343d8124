import { join } from 'node:path';
import { explainOldNode, findNode, root } from './pinned-node.mjs';
import { runProgram } from './run-program.mjs';

const node = findNode();
if (node) {
  const given = process.argv.slice(2);
  // Only this script handles --all: suites that support it skip nothing to save time.
  if (given.includes('--all')) process.env.POSTRIDER_TEST_ALL = '1';
  const options = given.filter((option) => option !== '--all');
  runProgram(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...options]);
} else {
  explainOldNode();
  process.exitCode = 1;
}
