#!/usr/bin/env node
// Runs on the shell's Node. If that is too old for TypeScript, main.ts runs on the Node that npm installed instead.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  explainOldNode,
  findNode,
  keepCompiled,
  rememberCaller,
  root,
  runsTypeScript,
} from '../../../scripts/pinned-node.mjs';
import { runProgram } from '../../../scripts/run-program.mjs';

rememberCaller();
const node = findNode();
if (!existsSync(`${root}node_modules/commander`)) {
  console.error('Postrider is not installed here yet; run npm ci or npm start once, then the same command again.');
  process.exitCode = 1;
} else if (runsTypeScript()) {
  // As with npm start, DATA_DIR is relative to the repository.
  process.chdir(root);
  keepCompiled();
  await import('./main.ts');
} else if (node) {
  runProgram(node, [fileURLToPath(new URL('main.ts', import.meta.url)), ...process.argv.slice(2)]);
} else {
  explainOldNode();
  process.exitCode = 1;
}
