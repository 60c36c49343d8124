import type { DocPage } from './library.ts';
import { anchorOf, plainMarkdown } from './markdown.ts';

export interface Hit {
  readonly page: DocPage;
  readonly heading: string;
  readonly anchor: string;
  readonly excerpt: string;
}

interface Section {
  readonly page: DocPage;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
  /** Lowercase copies that the search matches against. */
  readonly low: { readonly title: string; readonly heading: string; readonly text: string };
}

const MAX_HITS = 30;
const MAX_WORDS = 8;
const MAX_COUNT = 5;
const BEFORE = 60;
const EXCERPT = 220;
// The bonus for each word found, equal to the most points that a word can score within a section.
const EACH_WORD = 20;

let sections: readonly Section[] | null = null;

const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or that the this to was what when where why with'.split(
    ' ',
  ),
);

/**
 * Returns the sections that contain most of the words. Sections with all of the words, and with words in the heading,
 * rank first.
 */
export function search(pages: readonly DocPage[], query: string): Hit[] {
  sections ??= pages.flatMap(sectionsOf);
  const query_words = query
    .toLowerCase()
    .replace(/[?!,;]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  const terms = query_words.filter((word) => !STOP_WORDS.has(word));
  const words = (terms.length > 0 ? terms : query_words).slice(0, MAX_WORDS);
  if (words.length === 0) return [];
  return sections
    .flatMap((section) => {
      const points = pointsOf(section, words);
      return points === null ? [] : [{ section, points }];
    })
    .sort((a, b) => b.points - a.points)
    .slice(0, MAX_HITS)
    .map(({ section }) => {
      const { page, heading, anchor } = section;
      return { page, heading, anchor, excerpt: excerptOf(section, words) };
    });
}

function sectionsOf(page: DocPage): Section[] {
  return plainMarkdown(page)
    .split(/^(?=#{1,3} )/m)
    .map((part) => {
      const [first = '', ...rest] = part.split('\n');
      const heading = first.replace(/^#+ /, '').replaceAll('`', '');
      const text = rest
        .join(' ')
        .replace(/[`*|]|\]\([^)]*\)|\[/g, ' ')
        .replace(/(?:^|\s):?-{3,}:?(?=\s|$)/g, ' ')
        .replace(/\s+/g, ' ');
      const low = { title: page.title.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() };
      return { page, heading, anchor: anchorOf(heading), text, low };
    });
}

function pointsOf({ low }: Section, words: readonly string[]): number | null {
  let points = 0;
  let count = 0;
  for (const word of words) {
    const gained = (low.heading.includes(word) ? 10 : 0) + (low.title.includes(word) ? 5 : 0) + countOf(low.text, word);
    if (gained > 0) count += 1;
    points += gained;
  }
  // With one or two words, all must match. With more, up to a third may be missing.
  return count < words.length - Math.floor(words.length / 3) ? null : points + count * EACH_WORD;
}

/** Counts how often a word occurs in the text, up to the maximum that scores. */
function countOf(text: string, word: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at >= 0 && count < MAX_COUNT; at = text.indexOf(word, at + word.length)) count += 1;
  return count;
}

function excerptOf({ text, low }: Section, words: readonly string[]): string {
  const places = words.map((word) => low.text.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - BEFORE);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT).trim()}${from + EXCERPT < text.length ? '…' : ''}`;
}
