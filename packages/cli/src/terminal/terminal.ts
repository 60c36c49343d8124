/** The environment and the output of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether results are JSON if a command has no --json of its own. */
  readonly json?: boolean;
  readonly stdin?: NodeJS.ReadableStream;
  /** Standard output: the result. */
  print(text: string): void;
  /** Standard error: progress. */
  note(text: string): void;
  /** The printed result reports a failure: exit code 1. */
  fail(): void;
}

/** Prints a result as JSON or as text. */
export function show(terminal: Terminal, json: boolean | undefined, value: unknown, words: () => string): void {
  terminal.print((json ?? terminal.json) ? JSON.stringify(value, null, 2) : words());
}

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  }
  return rows
    .map((row) =>
      row.map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell)).join('  '),
    )
    .join('\n');
}

/** The rows that match a filter. */
export function foundTable(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? 'nothing matches' : table(rows);
}

/** The first credentials of a new user, printed once. */
export function entryLines(entry: {
  readonly password: string | null;
  readonly login_url: string | null;
  readonly login_url_expires_at: string | null;
}): string[] {
  return [
    ...(entry.password === null ? [] : [`${entry.password}`, 'their password; shown this once']),
    ...(entry.login_url === null ? [] : [entry.login_url, `signs them in once, until ${entry.login_url_expires_at}`]),
  ];
}

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;

/** Untrusted text on one line, without control characters that could drive the terminal. */
export function plain(text: string): string {
  return text.replace(CONTROL, ' ');
}
