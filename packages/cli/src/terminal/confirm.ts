import { Problem } from './problem.ts';
import type { Terminal } from './terminal.ts';

interface Destruction {
  /** A description of the things to be destroyed, in one or more lines. */
  readonly preview: string;
  readonly count: number;
  readonly yes: boolean | undefined;
}

/** The option of every command that asks for confirmation. */
export const yesOption = ['-y, --yes', 'skip the confirmation; required without a terminal'] as const;

/** Shows what a command would destroy, and proceeds once the count has been typed. */
export async function confirm(terminal: Terminal, { preview, count, yes }: Destruction): Promise<void> {
  if (yes) return;
  if (!terminal.question) {
    throw new Problem({
      reason: 'missing_option',
      message: `${preview} Nothing was changed.`,
      advice: 'Add --yes to confirm.',
    });
  }
  terminal.note(preview);
  const typed = (await terminal.question(`Type ${count} to continue: `)).trim();
  if (typed !== String(count)) throw notConfirmed();
}

export function notConfirmed(): Problem {
  return new Problem({ reason: 'not_confirmed', message: 'The count does not match, so nothing was changed.' });
}
