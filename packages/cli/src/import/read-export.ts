import { readFile } from 'node:fs/promises';
import { Problem } from '../terminal/problem.ts';

/** One entry of an export; `line` is its line in a CSV file, or its position in a JSON list, from 1. */
export interface ExportRow {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Export {
  readonly columns: readonly string[];
  readonly rows: readonly ExportRow[];
}

/** Reads a provider's export: CSV with a header, or its API's JSON. */
export async function readExport(file: string): Promise<Export> {
  const text = (await readText(file)).replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(text) ? readJson(file, text) : readCsv(text);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const message = `${file} cannot be read: ${code}.`;
    throw new Problem({
      reason: 'unreadable_file',
      message,
      advice: 'Use a file that you exported from the provider.',
    });
  }
}

/** Reads a list, or the first list in an object, such as `data` or `Suppressions`; several pages are concatenated. */
function readJson(file: string, text: string): Export {
  const parsed = parsedJson(file, text);
  const list = Array.isArray(parsed) ? parsed : Object.values(parsed ?? {}).find((value) => Array.isArray(value));
  if (!Array.isArray(list)) throw unreadable(file, 'it contains no list');
  const entries: readonly unknown[] = list.flatMap((entry: unknown) => pagesOf(entry));
  const rows = entries.flatMap((entry, index): ExportRow[] => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
    return [{ line: index + 1, fields: { ...entry } }];
  });
  if (rows.length < entries.length) throw unreadable(file, 'some entries are not objects');
  return { columns: [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))], rows };
}

function pagesOf(entry: unknown): readonly unknown[] {
  const { object, data } = (entry ?? {}) as { readonly object?: unknown; readonly data?: unknown };
  return object === 'list' && Array.isArray(data) ? data : [entry];
}

function parsedJson(file: string, text: string): object | null {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, error instanceof Error ? error.message : String(error));
  }
}

function unreadable(file: string, reason: string): Problem {
  const advice = 'Use a CSV export with a header, or the JSON that the provider’s API returns.';
  return new Problem({ reason: 'unreadable_file', message: `${file} cannot be read: ${reason}.`, advice });
}

function readCsv(text: string): Export {
  const [header, ...lines] = splitCsv(text);
  const columns = (header?.cells ?? []).map((cell) => cell.trim());
  const rows = lines.map(({ line, cells }) => ({
    line,
    fields: Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
  }));
  return { columns, rows };
}

/**
 * Splits RFC 4180 records: a quoted cell may contain commas, line breaks and doubled quotes. Empty lines are skipped.
 */
function splitCsv(text: string): { readonly line: number; readonly cells: readonly string[] }[] {
  const records: { line: number; cells: string[] }[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|((?!")[^,\r\n]*))(,|\r\n|\n|\r|$)/y;
  let cells: string[] = [];
  let line = 1;
  let row = 1;
  while (cell.lastIndex < text.length || cells.length > 0) {
    const match = cell.exec(text);
    // An unclosed quote, or text after a closing quote.
    if (!match) throw unreadable(`line ${line}`, 'a quoted cell is not closed');
    const [whole, quoted, bare = '', end] = match;
    cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    line += whole.split(/\r\n|\n|\r/).length - 1;
    if (end === ',') continue;
    if (cells.some((one) => one.trim() !== '')) records.push({ line: row, cells });
    cells = [];
    row = line;
  }
  return records;
}
