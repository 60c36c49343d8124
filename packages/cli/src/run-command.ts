import { type Command, CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { Problem, problemOf, writeProblem } from './terminal/problem.ts';
import { OUTPUT_VERSION, type Terminal } from './terminal/terminal.ts';

const USAGE = 2;
const PASSING = 3;
const VERSIONED = `json@${OUTPUT_VERSION}`;

/** Runs one command and returns its exit code. */
export async function runCommand(args: readonly string[], terminal: Omit<Terminal, 'fail'>): Promise<number> {
  let code = 0;
  let program: Command | undefined;
  const fail = (exit_code = 1) => {
    code = exit_code;
  };
  try {
    const { words, json = terminal.json } = readOutput(args);
    program = await createProgram({ ...terminal, ...(json !== undefined && { json }), fail }, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) {
      const group = error.code === 'commander.unknownCommand' ? groupOf(program, args) : undefined;
      if (group) terminal.note(`${group.name()} has ${group.commands.map((one) => one.name()).join(', ')}`);
      return error.exitCode === 0 ? 0 : USAGE;
    }
    writeProblem(error, args.includes('--json') || (readsJson(args) ?? terminal.json ?? false), terminal.note);
    const { reason, passing } = problemOf(error)?.facts ?? {};
    if (reason === 'invalid_option' || reason === 'missing_option') return USAGE;
    return passing ? PASSING : 1;
  }
  return code;
}

/** Returns the group that the command line named first. */
function groupOf(program: Command | undefined, args: readonly string[]): Command | undefined {
  return program?.commands.find((one) => one.commands.length > 0 && args.includes(one.name()));
}

/** Returns the words without --output, which may appear anywhere. */
function readOutput(args: readonly string[]): { words: readonly string[]; json?: boolean } {
  const words: string[] = [];
  let format: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (word === '--output') format = args[++index] ?? '';
    else if (word.startsWith('--output=')) format = word.slice('--output='.length);
    else words.push(word);
  }
  if (format === undefined) return { words };
  if (format === 'text') return { words, json: false };
  if (format === 'json' || format === VERSIONED) return { words, json: true };
  throw new Problem({
    reason: 'invalid_option',
    message: `--output ${format} is not a valid format.`,
    advice: `Use text, json or ${VERSIONED}, which pins the JSON version.`,
  });
}

function readsJson(args: readonly string[]): boolean | undefined {
  const at = args.indexOf('--output');
  if (at >= 0) return /^json\b/.test(args[at + 1] ?? '');
  return args.some((word) => /^--output=json\b/.test(word)) ? true : undefined;
}
