const MISSING_QUOTE = 'names and strings take double quotes';

type ExpectedToken = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' | 'nothing';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Describes where and why a text is not valid JSON. Called only for texts that JSON.parse rejected, because its own
 * message has no position for short texts. Does not recurse, so deep nesting cannot overflow the stack.
 */
export function jsonFault(text: string): string {
  const { at, problem } = findFault(text);
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  return `line ${line}, column ${column}: ${problem}`;
}

interface Fault {
  readonly at: number;
  readonly problem: string;
}

function findFault(text: string): Fault {
  const open: ('{' | '[')[] = [];
  let expected: ExpectedToken = 'value';
  let at = 0;
  for (;;) {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at += 1;
    const char = text[at];
    if (char === undefined) return { at, problem: `the body ends where ${described(expected, open)} should follow` };
    const close = open.at(-1) === '{' ? '}' : ']';
    if (
      char === close &&
      (expected === 'comma or end' || expected === `value or ${close}` || expected === `name or ${close}`)
    ) {
      open.pop();
      expected = open.length === 0 ? 'nothing' : 'comma or end';
      at += 1;
    } else if (char === ',' && expected === 'comma or end') {
      expected = open.at(-1) === '{' ? 'name' : 'value';
      at += 1;
    } else if (char === ':' && expected === 'colon') {
      expected = 'value';
      at += 1;
    } else if (char === '"' && /^(?:value|name)/.test(expected)) {
      const end = stringEnd(text, at);
      if (typeof end !== 'number') return end;
      at = end;
      expected = expected.startsWith('name') ? 'colon' : afterValue(open);
    } else if (expected.startsWith('value') && (char === '{' || char === '[')) {
      open.push(char);
      expected = char === '{' ? 'name or }' : 'value or ]';
      at += 1;
    } else {
      const end = expected.startsWith('value') ? (endOf(NUMBER, text, at) ?? endOf(LITERAL, text, at)) : null;
      if (end === null) return { at, problem: unexpected(text, at, expected, open) };
      at = end;
      expected = afterValue(open);
    }
  }
}

function afterValue(open: readonly unknown[]): ExpectedToken {
  return open.length === 0 ? 'nothing' : 'comma or end';
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Returns the index after the closing quote, or the fault found in the string. */
function stringEnd(text: string, start: number): number | Fault {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"') return at + 1;
    if (char < ' ')
      return { at, problem: 'a line break or control character inside of a string; write it as an escape' };
    if (char !== '\\') continue;
    const end = endOf(ESCAPE, text, at);
    if (end === null) return { at, problem: 'an unknown escape; a backslash itself is written twice' };
    at = end - 1;
  }
  return { at: text.length, problem: 'the body ends inside of a string' };
}

function unexpected(text: string, at: number, expected: ExpectedToken, open: readonly ('{' | '[')[]): string {
  const character = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
  if (expected === 'nothing') return `${character} follows the end of the value`;
  if (text[at] === "'" && /^(?:value|name)/.test(expected)) return MISSING_QUOTE;
  if (/[\w$]/.test(text[at] ?? '') && expected.startsWith('name')) return MISSING_QUOTE;
  if ('}]'.includes(text[at] ?? 'x') && /^(?:value|name)$/.test(expected) && text.slice(0, at).trimEnd().endsWith(','))
    return `a comma before ${character}; remove it`;
  return `${character} stands where ${described(expected, open)} should`;
}

function described(expected: ExpectedToken, open: readonly ('{' | '[')[]): string {
  switch (expected) {
    case 'value':
      return 'a value';
    case 'value or ]':
      return 'a value or ]';
    case 'name':
      return 'a name in double quotes';
    case 'name or }':
      return 'a name in double quotes or }';
    case 'colon':
      return 'a colon';
    case 'comma or end':
      return `a comma or ${open.at(-1) === '{' ? '}' : ']'}`;
    case 'nothing':
      return 'nothing';
  }
}
