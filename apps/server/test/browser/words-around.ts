const UNKNOWN = '\u0000';
/** The most rows of a page of a list, all of which can be new. */
const MAX_COUNT = 100;

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Matches a sentence of the dashboard around a value that the test does not know. */
export function wordsAround(sentence: (value: string) => string): RegExp {
  return new RegExp(sentence(UNKNOWN).split(UNKNOWN).map(escaped).join('.*'));
}

/** Matches the whole of a text that counts, whatever its count up to MAX_COUNT. */
export function anyCount(text: (count: number) => string): RegExp {
  const variants = Array.from({ length: MAX_COUNT }, (_, at) => escaped(text(at + 1)));
  return new RegExp(`^(${variants.join('|')})$`);
}
