const UNKNOWN = '\u0000';
/** The maximum number of rows on a list page, all of which can be new. */
const MAX_COUNT = 100;

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Matches a sentence from the dashboard around a value that the test does not know. */
export function wordsAround(sentence: (value: string) => string): RegExp {
  return new RegExp(sentence(UNKNOWN).split(UNKNOWN).map(escaped).join('.*'));
}

/** Matches an entire text containing a count, for any count up to MAX_COUNT. */
export function anyCount(text: (count: number) => string): RegExp {
  const variants = Array.from({ length: MAX_COUNT }, (_, at) => escaped(text(at + 1)));
  return new RegExp(`^(${variants.join('|')})$`);
}
