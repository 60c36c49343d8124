import { LRUCache } from 'lru-cache';

// Measured: a parsed document and its plan take about twenty times the memory of the text.
const MAX_CACHED_CHARACTERS = 2 * 1024 * 1024;
const MAX_TEXT_CHARACTERS = 10_000;

/** A cache by query text, bounded by the length of all its texts. Longer texts are not cached. */
export function textCache<T extends object>(): LRUCache<string, T> {
  return new LRUCache({
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_TEXT_CHARACTERS,
    sizeCalculation: (_value, text) => Math.max(1, text.length),
  });
}
