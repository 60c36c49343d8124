import { createRequire } from 'node:module';

type Convert = (html: string) => string;

// Chosen with nested, unclosed and many-sibling input: the worst of them stays well below 100 ms, the
// time for which nothing may hold the event loop. A longer html gives the text of its beginning.
const MAX_HTML_CHARACTERS = 128 * 1024;
const MAX_DEPTH = 64;
const MAX_CHILDREN = 2000;
const WRAP_AT = 78;

let convert: Convert | null = null;

/** The text alternative of a mail that came with html only. Same html, same text. */
export function textFromHtml(html: string): string {
  convert ??= loadConverter();
  return convert(html.length > MAX_HTML_CHARACTERS ? html.slice(0, MAX_HTML_CHARACTERS).toWellFormed() : html);
}

/** Loaded at the first html-only mail, because the parser is a tenth of a cold start. */
function loadConverter(): Convert {
  const library: typeof import('html-to-text') = createRequire(import.meta.url)('html-to-text');
  return library.compile({
    wordwrap: WRAP_AT,
    limits: { maxInputLength: MAX_HTML_CHARACTERS, maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN, ellipsis: '' },
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
      { selector: 'img', format: 'skip' },
      { selector: 'h1', options: { uppercase: false } },
      { selector: 'h2', options: { uppercase: false } },
      { selector: 'h3', options: { uppercase: false } },
      { selector: 'h4', options: { uppercase: false } },
      { selector: 'h5', options: { uppercase: false } },
      { selector: 'h6', options: { uppercase: false } },
    ],
  });
}
