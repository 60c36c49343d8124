/** What a command has of the world around it: the environment, and two places to write to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output: what was asked for. */
  print(text: string): void;
  /** Standard error: what happens on the way. */
  note(text: string): void;
  /** What was asked for is told, and it is not well: the command ends with 1. */
  fail(): void;
}

/** Prints an answer as JSON where that was asked for, and otherwise in words. */
export function show(terminal: Terminal, json: boolean | undefined, value: unknown, words: () => string): void {
  terminal.print(json ? JSON.stringify(value, null, 2) : words());
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

/** What a filter has found, which may be nothing. */
export function foundTable(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? 'nothing matches' : table(rows);
}

/** What a new person signs in with, printed this once. */
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

/** Text that somebody else wrote, on one line and unable to drive the terminal. */
export function plain(text: string): string {
  return text.replace(CONTROL, ' ');
}
