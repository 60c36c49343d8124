import { LRUCache } from 'lru-cache';

// Measured: a parsed document and its plan use about twenty times the memory of the text.
const MAX_CACHED_CHARACTERS = 2 * 1024 * 1024;
const MAX_TEXT_CHARACTERS = 10_000;

/** Creates a cache by query text, bounded by the total length of its texts. Longer texts are not cached. */
export function textCache<T extends object>(): LRUCache<string, T> {
  return new LRUCache({
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_TEXT_CHARACTERS,
    sizeCalculation: (_value, text) => Math.max(1, text.length),
  });
}
