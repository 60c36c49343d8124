import { Argument, type Command } from 'commander';
import type { Terminal } from '../terminal/terminal.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** A command and what may follow it. */
interface Words {
  /** The words before it, such as `queues hold`; empty for the program itself. */
  readonly path: string;
  readonly next: readonly string[];
}

export function addCompletion(program: Command, terminal: Terminal, everything: () => Promise<Command>): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .description('print a script that completes commands and options; for bash: eval "$(postrider completion bash)"')
    .action(async (shell: Shell) => terminal.print(scripts[shell](wordsOf(await everything()))));
}

function wordsOf(command: Command, path = ''): Words[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const next = [...command.commands.map((one) => one.name()), ...options, '--help'];
  const below = command.commands.flatMap((one) => wordsOf(one, `${path} ${one.name()}`.trim()));
  return [{ path, next }, ...below];
}

/** Only names of commands form the path; options and their values are skipped. */
const scripts: Readonly<Record<Shell, (words: readonly Words[]) => string>> = {
  bash: (words) => `_postrider() {
  local word path= next=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${words
        .filter(({ path }) => path !== '')
        .map(({ path }) => `'${path}'`)
        .join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${words.map(({ path, next }) => `    '${path}') next='${next.join(' ')}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _postrider postrider`,
  zsh: (words) => `#compdef postrider
autoload -U +X bashcompinit && bashcompinit
${scripts.bash(words)}`,
  fish: (words) =>
    [
      'function __postrider_path',
      '  set -l path',
      '  for word in (commandline -opc)[2..]',
      `    if contains -- (string join ' ' $path $word) ${words
        .filter(({ path }) => path !== '')
        .map(({ path }) => `'${path}'`)
        .join(' ')}`,
      '      set -a path $word',
      '    end',
      '  end',
      "  string join ' ' $path",
      'end',
      'complete -c postrider -f',
      ...words.map(
        ({ path, next }) => `complete -c postrider -n 'test (__postrider_path) = "${path}"' -a '${next.join(' ')}'`,
      ),
    ].join('\n'),
};
