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
  readonly text: string;
}

const MOST_HITS = 30;
const MOST_WORDS = 8;
const BEFORE = 60;
const EXCERPT = 220;
// More than a word can gain within a section.
const EACH_WORD = 20;

let sections: readonly Section[] | null = null;

const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or that the this to was what when where why with'.split(
    ' ',
  ),
);

/** The sections that contain most of the words, those with all of them and with them in the heading first. */
export function search(pages: readonly DocPage[], question: string): Hit[] {
  sections ??= pages.flatMap(sectionsOf);
  const asked = question
    .toLowerCase()
    .replace(/[?!,;]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  const told = asked.filter((word) => !STOP_WORDS.has(word));
  const words = (told.length > 0 ? told : asked).slice(0, MOST_WORDS);
  if (words.length === 0) return [];
  return sections
    .flatMap((section) => {
      const points = pointsOf(section, words);
      return points === null ? [] : [{ section, points }];
    })
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST_HITS)
    .map(({ section: { page, heading, text } }) => {
      const excerpt = excerptOf(text, words);
      return { page, heading, anchor: anchorOf(heading), excerpt };
    });
}

function sectionsOf(page: DocPage): Section[] {
  return plainMarkdown(page)
    .split(/^(?=#{1,3} )/m)
    .map((part) => {
      const [first = '', ...rest] = part.split('\n');
      return {
        page,
        heading: first.replace(/^#+ /, '').replaceAll('`', ''),
        text: rest
          .join(' ')
          .replace(/[`*|]|\]\([^)]*\)|\[/g, ' ')
          .replace(/(?:^|\s):?-{3,}:?(?=\s|$)/g, ' ')
          .replace(/\s+/g, ' '),
      };
    });
}

function pointsOf({ page, heading, text }: Section, words: readonly string[]): number | null {
  const [title, head, body] = [page.title.toLowerCase(), heading.toLowerCase(), text.toLowerCase()];
  let points = 0;
  let count = 0;
  for (const word of words) {
    const found =
      (head.includes(word) ? 10 : 0) + (title.includes(word) ? 5 : 0) + Math.min(5, body.split(word).length - 1);
    if (found > 0) count += 1;
    points += found;
  }
  // Of one or two words each counts; of more, one in three may be missing.
  return count < words.length - Math.floor(words.length / 3) ? null : points + count * EACH_WORD;
}

function excerptOf(text: string, words: readonly string[]): string {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - BEFORE);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT).trim()}${from + EXCERPT < text.length ? '…' : ''}`;
}
