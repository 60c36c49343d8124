import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { compiled, root } from './pinned-node.mjs';

/**
 * Runs a Node program in the foreground and exits as it does; forwards signals, so that it never outlives this process.
 */
export function runProgram(node, args, env = { NODE_COMPILE_CACHE: compiled, ...process.env }) {
  const child = spawn(node, args, { stdio: 'inherit', cwd: root, env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the child as well, and a second SIGINT would make the child exit without cleaning up.
    const arrives = signal === 'SIGINT' && process.stdin.isTTY;
    process.on(signal, () => arrives || child.kill(signal));
  }
  child.on('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
