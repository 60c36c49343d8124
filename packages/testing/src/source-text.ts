export interface SourceText {
  /** The source with the insides of strings, templates, regular expressions and comments blanked. */
  readonly bare: string;
  /** The source with only comments blanked. */
  readonly code: string;
  /** The comments, with everything else blanked. */
  readonly comments: string;
}

const CODE = 0;
const STRING = 1;
const COMMENT = 2;

// After these a slash begins a regular expression; after anything else it divides. `<` is left out for JSX closing tags.
const beforeRegex = new Set('(,=:[!&|?{};+-*%~^>');
const wordsBeforeRegex = /\b(?:return|typeof|case|in|of|delete|void|throw|else|do|await|yield)$/;

/**
 * Splits TypeScript source into code, strings and comments, each as long as the source and with its line breaks, so
 * that an index in one is an index in all. A scanner and no parser: enough for rules that look for words.
 */
export function readSource(text: string): SourceText {
  const kinds = new Uint8Array(text.length);
  // One number per template that is open around us: how many braces are open inside its ${}.
  const templates: number[] = [];
  let index = 0;
  let code_before = '';

  const mark = (end: number, kind: number) => {
    kinds.fill(kind, index, end);
    index = end;
  };
  const keep = (length: number) => {
    code_before = (code_before + text.slice(index, index + length)).slice(-12);
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
    const char = text.charAt(index);
    if (text.startsWith('//', index)) {
      const end = text.indexOf('\n', index);
      mark(end < 0 ? text.length : end, COMMENT);
    } else if (text.startsWith('/*', index)) {
      const end = text.indexOf('*/', index + 2);
      mark(end < 0 ? text.length : end + 2, COMMENT);
    } else if (char === "'" || char === '"') {
      keep(1);
      mark(endOfString(text, index, char), STRING);
      if (text[index] === char) keep(1);
    } else if (char === '`') {
      keep(1);
      readTemplate();
    } else if (char === '/' && startsRegex(code_before)) {
      keep(1);
      mark(endOfRegex(text, index), STRING);
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

  const only = (wanted: readonly number[]) => {
    let kept = '';
    for (let at = 0; at < text.length; at++) {
      const char = text.charAt(at);
      kept += char === '\n' || wanted.includes(kinds[at] ?? CODE) ? char : ' ';
    }
    return kept;
  };
  return { bare: only([CODE]), code: only([CODE, STRING]), comments: only([COMMENT]) };
}

function startsRegex(code_before: string): boolean {
  const before = code_before.trimEnd();
  return before === '' || beforeRegex.has(before.slice(-1)) || wordsBeforeRegex.test(before);
}

/** Strings end at the line's end at the latest, which keeps an apostrophe in JSX text from swallowing the file. */
function endOfString(text: string, start: number, quote: string): number {
  let end = start;
  while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
  return Math.min(end, text.length);
}

function endOfRegex(text: string, start: number): number {
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
