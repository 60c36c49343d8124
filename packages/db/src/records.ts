import type { Fragment, Sql, Tx } from './connect.ts';

// Many rows in one text parameter: fields and rows are separated by characters that none of them holds. Against
// one array for each column this spares both sides the escaping of every value, which is most of the work.
const FIELD = '\x1f';
const RECORD = '\x1e';
const NULL = '\x1a';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators are control characters.
const SEPARATORS = /[\x1a\x1e\x1f]/;

export type RecordField = string | number | null;

/** Whether a text can travel as a field; a text with a separator in it has to go another way. */
export function fitsRecord(text: string): boolean {
  return !SEPARATORS.test(text);
}

/** For `recordsIn(sql, recordTexts(rows), columns)`. Throws where a field does not fit, so that no row can be forged. */
export function recordTexts(rows: readonly (readonly RecordField[])[]): string {
  let text = '';
  for (const [index, row] of rows.entries()) {
    if (index > 0) text += RECORD;
    for (let place = 0; place < row.length; place++) {
      const field = row[place];
      if (typeof field === 'string' && SEPARATORS.test(field)) {
        throw new Error('a field of a record holds a separator');
      }
      if (place > 0) text += FIELD;
      text += field ?? NULL;
    }
  }
  return text;
}

/** The rows again, as a subquery; every column is text. */
export function recordsIn(sql: Sql | Tx, texts: string, columns: readonly string[]): Fragment {
  // Without the offset the planner would split the record anew for each column.
  return sql`(
    select ${sql.unsafe(columns.map((column, index) => `f[${index + 1}] as ${column}`).join(', '))}
    from (
      select string_to_array(record, E'\\x1f', E'\\x1a') as f
      from string_to_table(${texts}::text, E'\\x1e') as record offset 0
    ) as records
  )`;
}
