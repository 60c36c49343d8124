import postgres from 'postgres';
import { type Fragment, narrowed } from './sql.ts';

// Never connects: text without parameters can be embedded in a statement of any connection.
const pieces = narrowed(postgres({ max: 1 }));

/**
 * Formats words as a list of constants, `'a', 'b'`. A partial index is used only if the values are visible in the
 * statement.
 */
export function literals(words: readonly string[]): Fragment {
  for (const word of words) if (!/^[a-z_]+$/.test(word)) throw new Error(`${word} is no plain word`);
  return pieces.unsafe(words.map((word) => `'${word}'`).join(', '));
}
