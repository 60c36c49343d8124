import { Argument, type Command } from 'commander';
import type { Terminal } from '../terminal/terminal.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** A command and the words that may follow it. */
interface Words {
  /** The words before it, such as `queues hold`; empty for the program itself. */
  readonly path: string;
  readonly next: readonly string[];
}

export function addCompletion(program: Command, terminal: Terminal, everything: () => Promise<Command>): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(shells))
    .description('print a shell completion script; for bash: eval "$(postrider completion bash)"')
    .action(async (shell: Shell) => terminal.print(scripts[shell](wordsOf(await everything()))));
}

function wordsOf(command: Command, path = ''): Words[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const next = [...command.commands.map((one) => one.name()), ...options, '--help'];
  const below = command.commands.flatMap((one) => wordsOf(one, `${path} ${one.name()}`.trim()));
  return [{ path, next }, ...below];
}

/** Returns the patterns of a case: every path but the program's own. */
function pathsOf(words: readonly Words[], separator: string): string {
  return words
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join(separator);
}

function casesOf(words: readonly Words[]): string {
  return words.map(({ path, next }) => `    '${path}') next='${next.join(' ')}' ;;`).join('\n');
}

/** Only command names form the path; options and their values are skipped. */
const scripts: Readonly<Record<Shell, (words: readonly Words[]) => string>> = {
  bash: (words) => `_postrider() {
  local word at= next=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${at:+$at }$word" in
      ${pathsOf(words, '|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${casesOf(words)}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _postrider postrider`,
  // Does not use bashcompinit, because there a variable named path would be the shell's PATH.
  zsh: (words) => `#compdef postrider
_postrider() {
  local word at= next=
  local -i index
  for (( index = 2; index < CURRENT; index++ )); do
    word="\${words[index]}"
    case "\${at:+$at }$word" in
      ${pathsOf(words, '|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${casesOf(words)}
  esac
  compadd -- \${=next}
}
if [[ "\${funcstack[1]}" == _postrider ]]; then
  _postrider
else
  compdef _postrider postrider
fi`,
  fish: (words) =>
    [
      'function __postrider_at',
      '  set -l at',
      '  for word in (commandline -opc)[2..]',
      `    if contains -- (string join ' ' $at $word) ${pathsOf(words, ' ')}`,
      '      set -a at $word',
      '    end',
      '  end',
      '  test "$at" = "$argv[1]"',
      'end',
      'complete -c postrider -f',
      ...words.map(({ path, next }) => `complete -c postrider -n '__postrider_at "${path}"' -a '${next.join(' ')}'`),
    ].join('\n'),
};
