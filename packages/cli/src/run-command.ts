import { CommanderError } from 'commander';
import { writeProblem } from './problem.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/** Runs one command to its end, and answers the code that its process ends with. */
export async function runCommand(words: readonly string[], terminal: Omit<Terminal, 'fail'>): Promise<number> {
  let code = 0;
  const fail = () => {
    code = 1;
  };
  try {
    await createProgram({ ...terminal, fail }).parseAsync(words, { from: 'user' });
  } catch (error) {
    // It has said what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode;
    writeProblem(error, words.includes('--json'), terminal.note);
    fail();
  }
  return code;
}
