const WRAP_AT = 78;
/** Deeper quotations and lists are written at this depth, so that lines keep room for words. */
const MAX_INDENTS = 8;
/** White space other than a single space, which is most of it and stays as it is. */
const WHITE_SPACE = /[\t\r\n\f][ \t\r\n\f]*| [ \t\r\n\f]+/g;

interface Indent {
  readonly rest: string;
  /** What the first line shows; null once it is written. */
  first: string | null;
}

/** Lays out text in lines: wraps them, collapses white space and blank lines, and indents lists and quotations. */
export class TextPage {
  readonly #lines: string[] = [];
  readonly #indents: Indent[] = [];
  #skipped_indents = 0;
  #paragraph = '';
  /** Whether a space now would be one too many: the paragraph is empty or ends with one. */
  #is_spaced = true;
  /** Whether the paragraph is written as it is, without wrapping. */
  #is_verbatim = false;
  /** The line breaks before the next text. */
  #breaks = 0;

  /** Writes text whose white space is all alike. */
  write(text: string): void {
    const collapsed = text.replace(WHITE_SPACE, ' ');
    const added = this.#is_spaced && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed;
    if (added === '') return;
    this.#paragraph += added;
    this.#is_spaced = added.endsWith(' ');
  }

  /** Writes text as it is: its spaces and line breaks count. */
  writeVerbatim(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#endLine();
      this.#paragraph += line;
      this.#is_verbatim = true;
    }
  }

  /** Puts at least this many line breaks before the next text; two leave a blank line. */
  separate(breaks: number): void {
    if (breaks === 0) return;
    this.#endParagraph();
    if (breaks > this.#breaks) this.#breaks = breaks;
  }

  /** Breaks the line; a second time, it leaves a blank line. */
  breakLine(): void {
    this.#endParagraph();
    this.#breaks = Math.min(this.#breaks + 1, 2);
  }

  indent(rest: string, first = rest): void {
    this.#endParagraph();
    if (this.#indents.length < MAX_INDENTS) this.#indents.push({ rest, first });
    else this.#skipped_indents++;
  }

  outdent(): void {
    this.#endParagraph();
    if (this.#skipped_indents > 0) this.#skipped_indents--;
    else this.#indents.pop();
  }

  end(): string {
    this.#endParagraph();
    return this.#lines.join('\n');
  }

  #endParagraph(): void {
    if (this.#paragraph.trimEnd() !== '') this.#endLine();
    this.#paragraph = '';
    this.#is_spaced = true;
    this.#is_verbatim = false;
  }

  /** Ends the paragraph, or a line of preformatted text, which may be blank. */
  #endLine(): void {
    const width = WRAP_AT - this.#indents.reduce((sum, { rest }) => sum + rest.length, 0);
    const text = this.#paragraph.trimEnd();
    this.#put(this.#is_verbatim ? [text] : wrapped(text, width));
    this.#paragraph = '';
    this.#breaks = 0;
  }

  #put(lines: readonly string[]): void {
    if (this.#lines.length > 0) {
      const blank = this.#indents.map(({ rest, first }) => (first === rest ? '' : rest)).join('');
      for (let count = 1; count < this.#breaks; count++) this.#lines.push(blank.trimEnd());
    }
    for (const line of lines) this.#lines.push(this.#indent() + line);
  }

  #indent(): string {
    let indent = '';
    for (const one of this.#indents) {
      indent += one.first ?? one.rest;
      one.first = null;
    }
    return indent;
  }
}

/** Breaks a paragraph at spaces. A longer word gets a line of its own. */
function wrapped(paragraph: string, width: number): readonly string[] {
  if (paragraph.length <= width) return [paragraph];
  const lines: string[] = [];
  let start = 0;
  while (paragraph.length - start > width) {
    let end = paragraph.lastIndexOf(' ', start + width);
    if (end <= start) end = paragraph.indexOf(' ', start + width);
    if (end < 0) break;
    lines.push(paragraph.slice(start, end));
    start = end + 1;
  }
  lines.push(paragraph.slice(start));
  return lines;
}
