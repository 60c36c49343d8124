import { fence } from './planner.ts';
import type { Fragment, Sql, Tx } from './sql.ts';

// Encodes many rows in one text parameter, with fields and rows separated by control characters that no field may
// contain. Unlike with one array per column, neither side has to escape every value, which is most of the work.
const FIELD = '\x1f';
const RECORD = '\x1e';
const ITEM = '\x1d';
const NULL = '\x1a';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators are control characters.
const SEPARATORS = /[\x1a\x1d-\x1f]/;
// Above this length, four single-character searches are faster than one regular expression.
const LONG = 200;

/** A list is sent as its items. No item may be empty, because an empty list is sent as an empty string. */
export type RecordField = string | number | null | readonly string[];

/** Returns whether a string can be a field, which must not contain a separator. */
export function fitsRecord(text: string): boolean {
  if (text.length < LONG) return !SEPARATORS.test(text);
  return !text.includes(FIELD) && !text.includes(RECORD) && !text.includes(ITEM) && !text.includes(NULL);
}

/**
 * Encodes rows for `recordsIn(sql, recordTexts(rows), columns)`. Throws if a field contains a separator, so no row can
 * be forged.
 */
export function recordTexts(rows: readonly (readonly RecordField[])[]): string {
  // Concatenation with += would leave a rope of thousands of pieces.
  return rows.map((row) => row.map(fieldText).join(FIELD)).join(RECORD);
}

function fieldText(field: RecordField): string {
  if (field === null) return NULL;
  if (typeof field === 'number') return String(field);
  if (typeof field === 'string') return fitting(field);
  return field.length === 1 ? fitting(field[0] ?? '') : field.map(fitting).join(ITEM);
}

function fitting(text: string): string {
  if (!fitsRecord(text)) throw new Error('a field of a record holds a separator');
  return text;
}

/**
 * Returns the rows as a subquery: every column is text, `tags[]` is a list, and `id::uuid` a uuid. The subquery is
 * cached by the identity of the column array, so a frequent statement should reuse its array.
 */
export function recordsIn(sql: Sql | Tx, texts: string, columns: readonly string[]): Fragment {
  // Without the offset the planner would split the record again for each column.
  return sql`(
    select ${columnsOf(sql, columns)}
    from (
      select string_to_array(record, E'\\x1f', E'\\x1a') as f
      from string_to_table(${texts}::text, E'\\x1e') as record ${fence}
    ) as records
  )`;
}

// A fragment without parameters works for every connection.
const selections = new WeakMap<readonly string[], Fragment>();

function columnsOf(sql: Sql | Tx, columns: readonly string[]): Fragment {
  const known = selections.get(columns);
  if (known) return known;
  const selection = sql.unsafe(columns.map(readColumn).join(', '));
  selections.set(columns, selection);
  return selection;
}

function readColumn(column: string, index: number): string {
  const field = `f[${index + 1}]`;
  if (column.endsWith('::uuid')) return `${field}::uuid as ${column.slice(0, -'::uuid'.length)}`;
  if (!column.endsWith('[]')) return `${field} as ${column}`;
  return `string_to_array(${field}, E'\\x1d') as ${column.slice(0, -2)}`;
}
