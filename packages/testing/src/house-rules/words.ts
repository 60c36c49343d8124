import { blank } from '../source-text.ts';
import { at, type HouseRule, isCode, sourceOf, type TreeFile } from './tree.ts';

/** Words that plain engineering English avoids. */
const banned = [
  'whoever',
  'nobody',
  'somebody',
  'anybody',
  'anew',
  'whom',
  'thereof',
  'twins?',
  'forsaken',
  'mend(?:s|ed|ing)?',
];
const COMPLAINT = 'say it in a plain word';

// The word must not be part of a URL, a path or an identifier.
const BEFORE = String.raw`(?<![\w@./$-])`;
const AFTER = String.raw`(?![\w@/$-]|\.\w)`;
const WORD = new RegExp(`${BEFORE}(?:${banned.join('|')})${AFTER}`, 'gi');

/** Code in prose is exempt, such as an account name. */
const withoutCode = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, blank).replace(/`[^`\n]*`/g, blank);

/** A one-word string is a name; a string of several words is prose. */
const standsAmongOthers = (text: string, from: number, to: number) => text[from - 1] === ' ' || text[to] === ' ';

function sqlComments(text: string): string {
  const comment = /--[^\n]*|\/\*[\s\S]*?\*\//g;
  let result = '';
  let last = 0;
  for (const match of text.matchAll(comment)) {
    result += blank(text.slice(last, match.index)) + match[0];
    last = match.index + match[0].length;
  }
  return result;
}

function proseOf(file: TreeFile): string {
  const { path, text } = file;
  if (path.endsWith('.md')) return withoutCode(text);
  if (path.endsWith('.sql')) return withoutCode(sqlComments(text));
  return isCode(path) ? withoutCode(sourceOf(file).comments) : '';
}

export const plainWords: HouseRule = (files) =>
  files.flatMap((file) => {
    // Most files contain no banned word and need no scan.
    if (file.text.search(WORD) < 0) return [];
    const complain = (match: RegExpExecArray) => at(file, match.index, `${match[0]}: ${COMPLAINT}`);
    const complaints = [...proseOf(file).matchAll(WORD)].map(complain);
    if (!isCode(file.path)) return complaints;
    const { strings } = sourceOf(file);
    const read = [...strings.matchAll(WORD)].filter((match) =>
      standsAmongOthers(file.text, match.index, match.index + match[0].length),
    );
    return [...complaints, ...read.map(complain)];
  });
