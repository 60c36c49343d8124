import { createRequire } from 'node:module';

type Convert = (html: string) => string;

// Measured with hostile input: the worst case blocks the event loop for less than 100 ms. The parser is quadratic in
// the number of open tags: 26,000 took 190 ms, 10,000 take 30 ms. Longer HTML yields the text of its beginning; mail
// clients themselves clip at about 100 kB.
const MAX_HTML_CHARACTERS = 128 * 1024;
const MAX_TAGS = 10_000;
const MAX_DEPTH = 64;
const MAX_CHILDREN = 2000;
const WRAP_AT = 78;

let convert: Convert | null = null;

/** Returns the text alternative of an HTML-only message. The same HTML gives the same text. */
export function textFromHtml(html: string): string {
  convert ??= loadConverter();
  return convert(beginning(html));
}

function beginning(html: string): string {
  const source = html.length > MAX_HTML_CHARACTERS ? html.slice(0, MAX_HTML_CHARACTERS).toWellFormed() : html;
  let at = -1;
  for (let count = 0; count < MAX_TAGS; count++) {
    at = source.indexOf('<', at + 1);
    if (at < 0) return source;
  }
  return source.slice(0, at);
}

/** Loads the library with the first HTML-only message, which saves about 30 ms at startup. */
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
