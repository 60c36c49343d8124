import { writeProblem } from './problem.ts';
import { createProgram } from './program.ts';

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const program = createProgram({
  env: process.env,
  print: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
});
try {
  await program.parseAsync();
} catch (error) {
  writeProblem(error, process.argv.includes('--json'), (text) => void process.stderr.write(`${text}\n`));
  process.exitCode = 1;
}
