import { decodeHTML } from 'entities/decode';
import { type HtmlReader, readHtml } from './html-tokens.ts';
import { TextPage } from './text-page.ts';

/** Longer HTML yields the text of its beginning; mail clients themselves clip at about 100 kB. */
const MAX_HTML_CHARACTERS = 128 * 1024;
/** Elements nested deeper are read as if they were not there. */
const MAX_DEPTH = 64;
const RULE = '-'.repeat(40);

/** The line breaks around a block: two leave a blank line. */
const BREAKS: ReadonlyMap<string, number> = new Map([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre', 'figure', 'hr'].map(
    (name) => [name, 2] as const,
  ),
  ...['div', 'li', 'tr', 'caption', 'dt', 'dd', 'section', 'article', 'header', 'footer', 'main', 'nav', 'aside'].map(
    (name) => [name, 1] as const,
  ),
  ...['address', 'center', 'fieldset', 'figcaption', 'form', 'legend', 'details', 'summary', 'body'].map(
    (name) => [name, 1] as const,
  ),
]);
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

/** An element whose end changes how text is written. */
interface OpenElement {
  readonly name: 'a' | 'blockquote' | 'li' | 'ul' | 'ol' | 'pre';
  /** The target of a link. */
  readonly href: string | null;
  /** The items of a list so far. */
  items: number;
}

/**
 * Returns the text alternative of an HTML-only message, in one pass over the HTML. The same HTML gives the same text.
 */
export function textFromHtml(html: string): string {
  const source = html.length > MAX_HTML_CHARACTERS ? html.slice(0, MAX_HTML_CHARACTERS).toWellFormed() : html;
  const reader = new TextReader();
  readHtml(source, reader);
  return reader.end();
}

class TextReader implements HtmlReader {
  readonly #page = new TextPage();
  readonly #open: OpenElement[] = [];
  /** The text of the link that is open; null if none is. */
  #label: string | null = null;
  #pre_depth = 0;
  /** Whether nothing was written since preformatted text began. */
  #begins_pre = false;

  text(source: string): void {
    const text = source.includes('&') ? decodeHTML(source) : source;
    if (this.#label !== null) this.#label += text;
    if (this.#pre_depth === 0) return void this.#page.write(text);
    const lines = text.replaceAll('\r', '');
    this.#page.writeVerbatim(this.#begins_pre && lines.startsWith('\n') ? lines.slice(1) : lines);
    this.#begins_pre = false;
  }

  open(name: string, attributes: string): void {
    if (name === 'br') this.#page.breakLine();
    else if (name === 'td' || name === 'th') this.#page.write(' ');
    else {
      // An item ends where the next one of its list begins.
      if (name === 'li' && this.#open.findLast((one) => one.name !== 'a')?.name === 'li') this.close('li');
      this.#page.separate(this.#breaksOf(name));
      if (name === 'hr') this.#rule();
      else if (this.#open.length < MAX_DEPTH) this.#enter(name, attributes);
    }
  }

  close(name: string): void {
    const index = this.#open.findLastIndex((one) => one.name === name);
    if (index >= 0) for (const element of this.#open.splice(index).reverse()) this.#leave(element);
    this.#page.separate(this.#breaksOf(name));
  }

  end(): string {
    return this.#page.end();
  }

  #rule(): void {
    this.#page.writeVerbatim(RULE);
    this.#page.separate(2);
  }

  #breaksOf(name: string): number {
    const is_list = name === 'ul' || name === 'ol';
    // A list in an item follows its text without a blank line.
    if (is_list && this.#open.some((one) => one.name === 'li')) return 1;
    return BREAKS.get(name) ?? 0;
  }

  #enter(name: string, attributes: string): void {
    switch (name) {
      case 'a':
        this.#label = '';
        break;
      case 'pre':
        this.#pre_depth++;
        this.#begins_pre = true;
        break;
      case 'blockquote':
        this.#page.indent('> ');
        break;
      case 'li': {
        const marker = this.#marker();
        this.#page.indent(' '.repeat(marker.length), marker);
        break;
      }
      case 'ul':
      case 'ol':
        break;
      default:
        return;
    }
    this.#open.push({ name, href: name === 'a' ? hrefOf(attributes) : null, items: 0 });
  }

  #marker(): string {
    const list = this.#open.findLast((one) => one.name === 'ul' || one.name === 'ol');
    return list?.name === 'ol' ? ` ${++list.items}. ` : ' * ';
  }

  #leave({ name, href }: OpenElement): void {
    if (name === 'blockquote' || name === 'li') this.#page.outdent();
    if (name === 'pre') this.#pre_depth--;
    if (name !== 'a') return;
    const label = this.#label?.trim() ?? '';
    this.#label = null;
    if (href !== null && href !== label && href !== `mailto:${label}`) this.#page.write(` <${href}>`);
  }
}

/** Returns the target of a link; null if it has none outside the message. */
function hrefOf(attributes: string): string | null {
  const [, double, single, bare] = HREF.exec(attributes) ?? [];
  const href = decodeHTML(double ?? single ?? bare ?? '').trim();
  return href === '' || href.startsWith('#') ? null : href.replace(/\s/g, '%20');
}
