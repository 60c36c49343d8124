import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Environment, outcomeOf, run } from '../test/command-line.ts';
import { createWholeProgram, groups } from './program.ts';

/** Returns the output of a shell, from both stdout and stderr. */
async function printedBy(shell: string, args: readonly string[]): Promise<string> {
  const { out, err } = await outcomeOf(spawn(shell, args));
  return err + out;
}

const has = (program: string) => existsSync(join('/usr/bin', program));

/** Runs a command without a server. */
const postrider = (args: readonly string[], env: Environment = {}) =>
  run(args, { POSTRIDER_API_KEY: `pr_live_${'0'.repeat(64)}`, ...env });

describe('the CLI program', () => {
  it('shows the version, commands and exit codes in its help', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

    expect(await postrider(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
    const { out } = await postrider(['--help']);
    for (const name of Object.keys(groups)) expect(out).toContain(`\n  ${name}`);
    expect(out).toContain('Exit codes:');
  });

  it("describes each command in its help with the command's own description", async () => {
    const program = await createWholeProgram({ env: {}, print() {}, note() {}, fail() {} });

    const commands = program.commands.filter((one) => one.name() !== 'completion');
    expect(Object.fromEntries(commands.map((one) => [one.name(), one.description()]))).toEqual(
      Object.fromEntries(Object.entries(groups).map(([name, { description }]) => [name, description])),
    );
  });

  it('completes commands and options in bash, zsh and fish', async () => {
    const bash = await postrider(['completion', 'bash']);

    expect(bash.out).toMatch(/'queues hold'\) next='.*--reason/);
    expect((await postrider(['completion', 'zsh'])).out).toMatch(/^#compdef postrider/);
    expect((await postrider(['completion', 'fish'])).out).toContain('complete -c postrider');
    const script = `${bash.out}\nCOMP_WORDS=(postrider queues ho); COMP_CWORD=2; _postrider; echo "\${COMPREPLY[@]}"`;
    const completion = await outcomeOf(spawn('bash', ['-c', script]));
    expect(completion.out.trim()).toBe('hold holds');
    if (!has('zsh') || !has('fish')) return;
    const zsh = `compdef() { :; }; compadd() { print -- "$@"; }
      ${(await postrider(['completion', 'zsh'])).out}
      words=(postrider queues ho); CURRENT=3; _postrider; words=(postrider ''); CURRENT=2; _postrider; print $path`;
    expect(await printedBy('zsh', ['-fc', zsh])).toMatch(
      /^-- .*\bhold release holds\b[\s\S]*^-- send logs [\s\S]*\/bin/m,
    );
    const fish = `${(await postrider(['completion', 'fish'])).out}
      complete -C 'postrider queues ho'; complete -C 'postrider web'`;
    expect(await printedBy('fish', ['--no-config', '-c', fish])).toBe('hold\nholds\nwebhooks\n');
  });

  it('rejects an unknown subcommand, and lists the subcommands in its group', async () => {
    const rejection = await postrider(['queues', 'list']);

    expect(rejection.code).toBe(2);
    expect(rejection.err).toContain('queues has top, jobs, job, ');
  });

  it('rejects an invalid POSTRIDER_URL before making a request', async () => {
    const rejection = await postrider(['keys', 'list'], { POSTRIDER_URL: 'localhost:3000' });

    expect(rejection.code).toBe(1);
    expect(rejection.err).toMatch(/^invalid_environment: POSTRIDER_URL is localhost:3000/);
  });

  it('reports why a server is unreachable, even if the error has no code', async () => {
    // A port that fetch itself blocks.
    const rejection = await postrider(['keys', 'list'], { POSTRIDER_URL: 'http://127.0.0.1:1' });

    expect(rejection.err).toMatch(/^unreachable: No response from http:\/\/127\.0\.0\.1:1: bad port\.$/m);
  });
});
