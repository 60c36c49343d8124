import type { Fragment, Sql, Tx } from './connect.ts';

// Many rows in one text parameter: fields and rows are separated by characters that none of them holds. Against
// one array for each column this spares both sides the escaping of every value, which is most of the work.
const FIELD = '\x1f';
const RECORD = '\x1e';
const ITEM = '\x1d';
const NULL = '\x1a';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators are control characters.
const SEPARATORS = /[\x1a\x1d-\x1f]/;
// Above this, four searches for one character each are faster than one for all.
const LONG = 200;

/** A list travels as its items, none of which may be empty, and an empty list is an empty text. */
export type RecordField = string | number | null | readonly string[];

/** Whether a text can travel as a field; a text with a separator in it has to go another way. */
export function fitsRecord(text: string): boolean {
  if (text.length < LONG) return !SEPARATORS.test(text);
  return !text.includes(FIELD) && !text.includes(RECORD) && !text.includes(ITEM) && !text.includes(NULL);
}

/** For `recordsIn(sql, recordTexts(rows), columns)`. Throws where a field does not fit, so that no row can be forged. */
export function recordTexts(rows: readonly (readonly RecordField[])[]): string {
  // Joined, and not added up, which would leave a chain of thousands of pieces.
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
 * The rows again, as a subquery; every column is text, and `tags[]` is a list. One array of columns stands for
 * one subquery, so a statement that is sent often keeps it.
 */
export function recordsIn(sql: Sql | Tx, texts: string, columns: readonly string[]): Fragment {
  // Without the offset the planner would split the record anew for each column.
  return sql`(
    select ${columnsOf(sql, columns)}
    from (
      select string_to_array(record, E'\\x1f', E'\\x1a') as f
      from string_to_table(${texts}::text, E'\\x1e') as record offset 0
    ) as records
  )`;
}

// A piece that is only ever put into others never runs, so it serves every connection.
const selections = new WeakMap<readonly string[], ReturnType<Sql['unsafe']>>();

function columnsOf(sql: Sql | Tx, columns: readonly string[]) {
  const known = selections.get(columns);
  if (known) return known;
  const selection = sql.unsafe(columns.map(readColumn).join(', '));
  selections.set(columns, selection);
  return selection;
}

function readColumn(column: string, index: number): string {
  const field = `f[${index + 1}]`;
  if (!column.endsWith('[]')) return `${field} as ${column}`;
  return `string_to_array(${field}, E'\\x1d') as ${column.slice(0, -2)}`;
}
