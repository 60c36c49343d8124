const MAX_LINE = 80;

interface Notation {
  readonly text: (value: string) => string;
  readonly constants: Readonly<Record<'true' | 'false' | 'null', string>>;
  readonly object: readonly [open: string, close: string];
  readonly pair: (name: string, value: string) => string;
}

const notations = {
  json: {
    text: (value) => JSON.stringify(value),
    constants: { true: 'true', false: 'false', null: 'null' },
    object: ['{', '}'],
    pair: (name, value) => `${JSON.stringify(name)}: ${value}`,
  },
  ts: {
    text: quoted,
    constants: { true: 'true', false: 'false', null: 'null' },
    object: ['{', '}'],
    pair: (name, value) => `${name}: ${value}`,
  },
  python: {
    text: (value) => JSON.stringify(value),
    constants: { true: 'True', false: 'False', null: 'None' },
    object: ['{', '}'],
    pair: (name, value) => `${JSON.stringify(name)}: ${value}`,
  },
  php: {
    text: quoted,
    constants: { true: 'true', false: 'false', null: 'null' },
    object: ['[', ']'],
    pair: (name, value) => `${quoted(name)} => ${value}`,
  },
} satisfies Readonly<Record<string, Notation>>;

/** Writes a value as a literal of a language, on one line if it fits. `margin` precedes every line but the first. */
export function literal(language: keyof typeof notations, value: unknown, margin = ''): string {
  return write(notations[language], value, margin, language === 'json' ? '  ' : indents[language]);
}

const indents = { ts: '  ', python: '    ', php: '    ' } as const;

function write(notation: Notation, value: unknown, margin: string, indent: string): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean' || value === null) return notation.constants[`${value}`];
  const [open, close] = Array.isArray(value) ? ['[', ']'] : notation.object;
  const parts = (inner: string) =>
    Array.isArray(value)
      ? value.map((one) => write(notation, one, inner, indent))
      : Object.entries(value as object).map(([name, one]) => notation.pair(name, write(notation, one, inner, indent)));
  const flat = parts(margin).join(', ');
  const space = open === '{' && notation === notations.ts ? ' ' : '';
  const line = `${open}${space}${flat}${space}${close}`;
  if (!flat.includes('\n') && margin.length + line.length <= MAX_LINE) return line;
  const inner = margin + indent;
  return `${open}\n${parts(inner)
    .map((part) => `${inner}${part},\n`)
    .join('')
    .replace(/,\n$/, notation === notations.json ? '\n' : ',\n')}${margin}${close}`;
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
