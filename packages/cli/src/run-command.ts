import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { writeProblem } from './terminal/problem.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Runs one command, and returns its exit code. */
export async function runCommand(words: readonly string[], terminal: Omit<Terminal, 'fail'>): Promise<number> {
  let code = 0;
  const fail = () => {
    code = 1;
  };
  try {
    await createProgram({ ...terminal, fail }).parseAsync(words, { from: 'user' });
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode;
    writeProblem(error, words.includes('--json'), terminal.note);
    fail();
  }
  return code;
}
