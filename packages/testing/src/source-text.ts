export interface SourceText {
  /** The source with the contents of strings, templates, regular expressions and comments blanked. */
  readonly bare: string;
  /** The source with only comments blanked. */
  readonly code: string;
  /** The comments, with everything else blanked. */
  readonly comments: string;
  /** The contents of strings, templates and regular expressions, with everything else blanked. */
  readonly strings: string;
}

const plain = /[^'"`/{}]+/y;

const CODE = 0;
const STRING = 1;
const COMMENT = 2;

// A slash after one of these characters, after one of the words below, or at the start begins a regex; otherwise it
// means division. < is excluded because </div> is not a regex.
const beforeRegex = new Set('(,=:[!&|?{};+-*%~^>');
const wordsBeforeRegex = /\b(?:return|typeof|case|in|of|delete|void|throw|else|do|await|yield)$/;

/**
 * Splits TypeScript source into code, strings and comments, each as long as the source and with the same line breaks,
 * so that indexes match. This is a scanner, not a parser, which is enough for rules that search for words.
 */
export function readSource(text: string): SourceText {
  // The parts that are not code, in source order.
  const runs: { readonly start: number; readonly end: number; readonly kind: number }[] = [];
  // The number of open braces inside the ${} of each enclosing template.
  const templates: number[] = [];
  let index = 0;
  let code_before = '';

  const mark = (end: number, kind: number) => {
    runs.push({ start: index, end, kind });
    index = end;
  };
  const keep = (length: number) => {
    code_before = (code_before + text.slice(index + Math.max(0, length - 12), index + length)).slice(-12);
    index += length;
  };
  const readTemplate = () => {
    let end = index;
    while (end < text.length && text[end] !== '`' && !text.startsWith('${', end)) end += text[end] === '\\' ? 2 : 1;
    mark(Math.min(end, text.length), STRING);
    if (text[index] === '`') keep(1);
    else if (index < text.length) {
      keep(2);
      templates.push(0);
    }
  };

  while (index < text.length) {
    plain.lastIndex = index;
    keep(plain.exec(text)?.[0].length ?? 0);
    const char = text.charAt(index);
    if (text.startsWith('//', index)) {
      const end = text.indexOf('\n', index);
      mark(end < 0 ? text.length : end, COMMENT);
    } else if (text.startsWith('/*', index)) {
      const end = text.indexOf('*/', index + 2);
      mark(end < 0 ? text.length : end + 2, COMMENT);
    } else if (char === "'" || char === '"') {
      keep(1);
      mark(stringEnd(text, index, char), STRING);
      if (text[index] === char) keep(1);
    } else if (char === '`') {
      keep(1);
      readTemplate();
    } else if (char === '/' && startsRegex(code_before)) {
      keep(1);
      mark(regexEnd(text, index), STRING);
      if (text[index] === '/') keep(1);
    } else {
      keep(1);
      const open = templates.at(-1);
      if (open === undefined) continue;
      if (char === '{') templates[templates.length - 1] = open + 1;
      if (char !== '}') continue;
      if (open > 0) {
        templates[templates.length - 1] = open - 1;
      } else {
        templates.pop();
        readTemplate();
      }
    }
  }

  // Each view is computed on demand, because most rules need only one.
  const views = new Map<keyof SourceText, string>();
  const view = (name: keyof SourceText, lines: readonly number[]) => {
    const known = views.get(name);
    if (known !== undefined) return known;
    let result = '';
    const add = (end: number, kind: number) => {
      const part = text.slice(result.length, end);
      result += lines.includes(kind) ? part : blank(part);
    };
    for (const { start, end, kind } of runs) {
      add(start, CODE);
      add(end, kind);
    }
    add(text.length, CODE);
    views.set(name, result);
    return result;
  };
  return {
    get bare() {
      return view('bare', [CODE]);
    },
    get code() {
      return view('code', [CODE, STRING]);
    },
    get comments() {
      return view('comments', [COMMENT]);
    },
    get strings() {
      return view('strings', [STRING]);
    },
  };
}

/** Returns the text with everything but its line breaks replaced by spaces. */
export function blank(text: string): string {
  return text
    .split('\n')
    .map((line) => ' '.repeat(line.length))
    .join('\n');
}

function startsRegex(code_before: string): boolean {
  const before = code_before.trimEnd();
  return before === '' || beforeRegex.has(before.slice(-1)) || wordsBeforeRegex.test(before);
}

/**
 * Returns the end of a string: the end of the line at the latest, so that an apostrophe in JSX text does not swallow
 * the file.
 */
function stringEnd(text: string, start: number, quote: string): number {
  let end = start;
  while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
  return Math.min(end, text.length);
}

function regexEnd(text: string, start: number): number {
  let end = start;
  let in_class = false;
  while (end < text.length && text[end] !== '\n' && (in_class || text[end] !== '/')) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '[') in_class = true;
    else if (text[end] === ']') in_class = false;
    end += 1;
  }
  return Math.min(end, text.length);
}
