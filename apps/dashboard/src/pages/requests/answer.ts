import type { Outputs } from '../../api/trpc.ts';
import { words } from './strings.ts';

type Groups = Pick<Outputs['requests']['groups'], 'exact'> & {
  readonly data: readonly Pick<Outputs['requests']['groups']['data'][number], 'reason' | 'count'>[];
};

/** The server's maximum. If a response has this many groups, there may be more. */
const MAX_GROUPS = 50;

export function answerOf({ exact, data }: Groups): string {
  const [first] = data;
  if (!first) return words.answer.none;
  const total = data.reduce((sum, { count }) => sum + count, 0);
  const text = words.counted(total, !exact || data.length >= MAX_GROUPS);
  return data.length === 1 ? words.answer.one(text, first.reason) : words.answer.some(text, first.reason);
}
