import { blank } from '../source-text.ts';
import { at, findAll, type HouseRule, isCode, isTest, sourceOf, type TreeFile } from './tree.ts';

// "mail server" and similar compounds are terms of the trade; `a mail` and `mails` are not English.
const COUNTED_MAIL =
  /(?<![\w@./$-])(?:mails|(?:a|each|every|one|this|that|another|first|last) mail(?! (?:server|client|provider|exchanger|host|program|queue|transport|app|system)s?\b))(?![\w@/$-]|\.\w)/gi;
// A string in an interface: the text between two pieces of code.
const INTERFACE_TEXT = /\S(?:[^\n]*?\S)?(?=\s{2}|\n|$)/g;
const WHAT_CLAUSE = /(?<=^|[.!:] )What\b[^.!?]*(?:[.!]|$)/g;
// Idioms of another language; the plain words are automatically, immediately, continues and reports.
const FOREIGN_IDIOM = /(?<![\w-])(?:by (?:itself|themselves)|at once|goes on|(?:is|are) (?:told|asked))(?![\w-])/gi;
const OF = /\bof\b/gi;
const WORD = /[A-Za-z][\w'’-]*/g;

const MAX_OF_PER_10_000_WORDS = 150;
const WORST = 10;

/**
 * Pages exempt from the rules: the page that quotes the interface in the words of its specification, and the history,
 * which stays as written.
 */
const quoted = new Set(['docs/interface.md', 'CHANGELOG.md']);

const isDoc = ({ path }: TreeFile) =>
  (/^docs\/[\w-]+\.md$/.test(path) ||
    /^(?:README|SECURITY|CONTRIBUTING)\.md$|^packages\/\w+\/README\.md$/.test(path)) &&
  !quoted.has(path);

/** Returns a page's prose, without code fences, inline code and link URLs. */
function proseOf(text: string): string {
  return text
    .replace(/^ *```[\s\S]*?^ *```/gm, blank)
    .replace(/`[^`\n]*`/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank)
    .replace(/<!--[\s\S]*?-->|<[^>]+>/g, blank);
}

interface PageMeasure {
  readonly path: string;
  readonly words: number;
  readonly ofs: number;
}

/** Returns how often each documentation page uses "of", most frequent first. */
function measureOf(files: readonly TreeFile[]): PageMeasure[] {
  const measured = files.filter(isDoc).map(({ path, text }) => {
    const prose = proseOf(text);
    return { path, words: [...prose.matchAll(WORD)].length, ofs: [...prose.matchAll(OF)].length };
  });
  const rate = ({ ofs, words }: PageMeasure) => ofs / Math.max(1, words);
  return measured.toSorted((left, right) => rate(right) - rate(left));
}

const perTenThousand = (ofs: number, words: number) => Math.round((ofs / Math.max(1, words)) * 10_000);

/** Returns whether the dashboard or the command line shows the strings of a file. */
const isShown = ({ path }: TreeFile) =>
  /^(?:apps\/dashboard|packages\/cli)\/src\//.test(path) && isCode(path) && !isTest(path);

const shownIn = (file: TreeFile) => sourceOf(file).strings.replace(/`[^`\n]*`/g, blank);

/** Rejects "mail" as a countable noun: a single message is an email. */
export const uncountedMail: HouseRule = (files) =>
  files.flatMap((file) => {
    const text = isDoc(file) ? proseOf(file.text) : isShown(file) ? shownIn(file) : '';
    return findAll(file, text, COUNTED_MAIL, 'say email');
  });

/** Requires comments to use the words that an engineer would search for. */
export const plainComments: HouseRule = (files) =>
  files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      const text = sourceOf(file).comments.replace(/`[^`\n]*`/g, blank);
      return [
        ...findAll(file, text, COUNTED_MAIL, 'say message or email'),
        ...findAll(file, text, FOREIGN_IDIOM, 'say automatically, immediately, continues, reports or requests'),
      ];
    });

/** Requires that a sentence in the interface begins with a noun or a verb, not with a clause. */
export const noWhatClauses: HouseRule = (files) =>
  files
    .filter(isShown)
    .flatMap((file) =>
      [...shownIn(file).matchAll(INTERFACE_TEXT)].flatMap(({ 0: text, index }) =>
        [...text.matchAll(WHAT_CLAUSE)].map((clause) =>
          at(file, index + clause.index, `${clause[0].slice(0, 60)}: begin with a noun or a verb`),
        ),
      ),
    );

/** Limits "of" in favor of noun compounds, and lists the pages that use "of" most. */
export const fewGenitives: HouseRule = (files) => {
  const measured = measureOf(files);
  const sum = (pick: (one: PageMeasure) => number) => measured.reduce((total, one) => total + pick(one), 0);
  const rate = perTenThousand(
    sum(({ ofs }) => ofs),
    sum(({ words }) => words),
  );
  if (rate <= MAX_OF_PER_10_000_WORDS) return [];
  return measured
    .slice(0, WORST)
    .map(({ path, ofs, words }) => `${path}:1 ${perTenThousand(ofs, words)} of per 10,000 words; use noun compounds`);
};
