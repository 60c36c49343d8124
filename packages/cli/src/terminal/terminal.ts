/** A command's environment and output. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether results are JSON if a command has no --json of its own. */
  readonly json?: boolean;
  readonly stdin?: NodeJS.ReadableStream;
  /** Prompts the person at the terminal; absent if there is no terminal. */
  readonly question?: (text: string) => Promise<string>;
  /** Draws on a line of the terminal; absent if there is no terminal. */
  readonly draw?: (text: string) => void;
  /** Writes the result to standard output. */
  print(text: string): void;
  /** Writes progress to standard error. */
  note(text: string): void;
  /** Sets the exit code, 1 by default, because the printed result reports a failure. */
  fail(code?: number): void;
}

/** The version of the printed JSON; it changes when something is removed or changes its meaning. */
export const OUTPUT_VERSION = 1;

/** Prints a result as JSON or as text. */
export function show(terminal: Terminal, json: boolean | undefined, value: object, words: () => string): void {
  const full = () => JSON.stringify({ output_version: OUTPUT_VERSION, ...value }, null, 2);
  terminal.print((json ?? terminal.json) ? full() : words());
}

/** Formats columns as wide as their widest cell; the last one is not padded. */
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

/** Formats the rows that match a filter. */
export function foundTable(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? 'No results.' : table(rows);
}

/** Formats a new user's first credentials, printed once. */
export function entryLines(entry: {
  readonly password: string | null;
  readonly login_url: string | null;
  readonly login_url_expires_at: string | null;
}): string[] {
  return [
    ...(entry.password === null ? [] : [`${entry.password}`, 'the new user’s password; shown once']),
    ...(entry.login_url === null
      ? []
      : [entry.login_url, `signs the new user in once; expires at ${entry.login_url_expires_at}`]),
  ];
}

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;

/** Returns untrusted text on one line, without control characters that could control the terminal. */
export function plain(text: string): string {
  return text.replace(CONTROL, ' ');
}
