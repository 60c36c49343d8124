import { createInterface } from 'node:readline/promises';
import { runCommand } from './run-command.ts';

// A reader that closes the pipe, such as head, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

async function ask(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(text);
  } finally {
    lines.close();
  }
}

const is_interactive = process.stderr.isTTY === true;

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  json: process.stdout.isTTY !== true,
  stdin: process.stdin,
  ...(is_interactive && { draw: (text: string) => void process.stderr.write(text) }),
  ...(is_interactive && process.stdin.isTTY && { question: ask }),
  print: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
});
