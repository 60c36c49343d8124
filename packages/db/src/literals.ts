import postgres from 'postgres';
import { type Fragment, narrowed } from './sql.ts';

// It never connects: text without parameters fits into a statement of any connection.
const pieces = narrowed(postgres({ max: 1 }));

/** Words as a list of constants, `'a', 'b'`: a partial index is used only where the statement shows the values. */
export function literals(words: readonly string[]): Fragment {
  for (const word of words) if (!/^[a-z_]+$/.test(word)) throw new Error(`${word} is no plain word`);
  return pieces.unsafe(words.map((word) => `'${word}'`).join(', '));
}
