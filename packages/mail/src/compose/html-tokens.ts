/** Is called for the parts of an HTML document, in order. Comments, declarations and scripts are left out. */
export interface HtmlReader {
  text(text: string): void;
  /** The name is in lower case. The attributes are as written. */
  open(name: string, attributes: string): void;
  close(name: string): void;
}

/** Their content is not text of the page, and may hold anything. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template', 'iframe']);
const NAME = /[a-z][^\s/>]*/iy;
const [SPACE, GREATER, QUOTE, APOSTROPHE, EQUALS] = [32, 62, 34, 39, 61];

/**
 * Reads a document in one pass, which never goes back, whatever the document holds. What is never closed ends it, as in
 * a browser that has received only its beginning.
 */
export function readHtml(html: string, reader: HtmlReader): void {
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf('<', at);
    const markup = next < 0 ? html.length : next;
    if (markup > at) reader.text(html.slice(at, markup));
    at = markup < html.length ? readMarkup(html, markup, reader) : markup;
  }
}

/** Reads what begins with "<". Returns where it ends. */
function readMarkup(html: string, markup: number, reader: HtmlReader): number {
  const closes = html[markup + 1] === '/';
  NAME.lastIndex = markup + (closes ? 2 : 1);
  const name = NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) {
    if (html.startsWith('<!--', markup)) return after(html, '-->', markup + 4);
    if (closes || html[markup + 1] === '!' || html[markup + 1] === '?') return after(html, '>', markup + 2);
    reader.text('<');
    return markup + 1;
  }
  const start = NAME.lastIndex;
  const end = endOfTag(html, start);
  if (end > html.length) return end;
  if (closes) reader.close(name);
  else if (RAW.has(name)) return afterRaw(html, name, end);
  else reader.open(name, html.slice(start, end - 1));
  return end;
}

/** Returns the place after the ">" of a tag. A quoted value may contain others. */
function endOfTag(html: string, start: number): number {
  let before = SPACE;
  for (let at = start; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === GREATER) return at + 1;
    if ((code === QUOTE || code === APOSTROPHE) && before === EQUALS) {
      at = html.indexOf(code === QUOTE ? '"' : "'", at + 1);
      if (at < 0) break;
    }
    if (code > SPACE) before = code;
  }
  return Number.POSITIVE_INFINITY;
}

function after(html: string, end: string, from: number): number {
  const index = html.indexOf(end, from);
  return index < 0 ? html.length : index + end.length;
}

function afterRaw(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[\\s/>]`, 'ig');
  closing.lastIndex = from;
  const match = closing.exec(html);
  return match === null ? html.length : after(html, '>', match.index);
}
