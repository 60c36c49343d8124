import { arrayLiteral, type Fragment, fence, type RecordField, type Sql, uuidOfId } from '@postrider/db';
import type { NewMessage, NewRecipient } from './new-message.ts';

/** A column that the storing statements of both paths fill from the same field. */
type Column<Row> =
  | { readonly name: string; readonly type: 'text[]'; readonly value: (row: Row) => readonly string[] }
  | {
      readonly name: string;
      readonly type: 'text' | 'int' | 'uuid' | 'recipient_kind' | 'mail_priority' | 'mail_retention' | 'boolean';
      readonly value: (row: Row) => string | number | null;
    };

type NamedColumn = Pick<Column<never>, 'name' | 'type'>;

/** Columns of messages. */
export const messageColumns: readonly Column<NewMessage>[] = [
  { name: 'workspace_id', type: 'uuid', value: (message) => message.workspace_id },
  { name: 'id', type: 'uuid', value: (message) => message.id },
  { name: 'mode', type: 'text', value: (message) => message.mode },
  { name: 'from_address', type: 'text', value: (message) => message.from_address },
  { name: 'from_email', type: 'text', value: (message) => message.from_email },
  { name: 'from_domain', type: 'text', value: (message) => message.from_domain },
  { name: 'to_addresses', type: 'text[]', value: (message) => message.to_addresses },
  { name: 'cc_addresses', type: 'text[]', value: (message) => message.cc_addresses },
  { name: 'bcc_addresses', type: 'text[]', value: (message) => message.bcc_addresses },
  { name: 'reply_to', type: 'text', value: (message) => message.reply_to },
  { name: 'subject', type: 'text', value: (message) => message.subject },
  { name: 'tags', type: 'text[]', value: (message) => message.tags },
  { name: 'metadata', type: 'text', value: (message) => message.metadata },
  { name: 'recipient_count', type: 'int', value: (message) => message.recipients.length },
  { name: 'priority', type: 'mail_priority', value: (message) => message.priority },
  { name: 'retain', type: 'mail_retention', value: (message) => message.retain },
  { name: 'sealed', type: 'boolean', value: (message) => String(message.sealed) },
  { name: 'body_bytes', type: 'int', value: (message) => message.body_bytes },
  { name: 'api_key_id', type: 'uuid', value: (message) => message.api_key_id },
  { name: 'request_id', type: 'uuid', value: (message) => message.request_id },
  { name: 'resend_of', type: 'uuid', value: (message) => message.resend_of },
  { name: 'trace_parent', type: 'text', value: (message) => message.trace_parent },
];

/** Columns of bodies, in addition to workspace_id and message_id. */
export const bodyColumns: readonly Column<NewMessage>[] = [
  { name: 'html', type: 'text', value: (message) => message.html },
  { name: 'text', type: 'text', value: (message) => message.text },
  { name: 'headers', type: 'text', value: (message) => message.headers },
  { name: 'attachments', type: 'text', value: (message) => message.attachments },
];

/** Columns of recipients, in addition to workspace_id and message_id. */
export const recipientColumns: readonly Column<NewRecipient>[] = [
  { name: 'id', type: 'uuid', value: (recipient) => recipient.id },
  { name: 'email', type: 'text', value: (recipient) => recipient.email },
  { name: 'domain', type: 'text', value: (recipient) => recipient.domain },
  { name: 'kind', type: 'recipient_kind', value: (recipient) => recipient.kind },
  { name: 'job_id', type: 'uuid', value: (recipient) => recipient.job_id },
];

interface ColumnFragments {
  /** The column list of `insert into`. */
  readonly names: Fragment;
  /** The list of the `select` that fills the columns, each cast from its type in the batch. */
  readonly values: Fragment;
}

// Fragments are never executed on their own, so these work on every connection.
const fragments = new WeakMap<object, ColumnFragments>();

/** Returns the columns as statement fragments. */
export function fragmentsOf(sql: Sql, columns: readonly NamedColumn[]): ColumnFragments {
  const known = fragments.get(columns);
  if (known) return known;
  const columns_sql = {
    names: sql.unsafe(columns.map(({ name }) => name).join(', ')),
    values: sql.unsafe(columns.map(({ name, type }) => (type === 'text' ? name : `${name}::${type}`)).join(', ')),
  };
  fragments.set(columns, columns_sql);
  return columns_sql;
}

/** Returns a comma and an array per column, for `unnest(${first}::int[] ${arraysOf(…)})`; lists are array literals. */
export function arraysOf<Row>(sql: Sql, columns: readonly Column<Row>[], rows: readonly Row[]): Fragment[] {
  return columns.map((column) => {
    if (column.type === 'text[]') return sql`, ${rows.map((row) => arrayLiteral(column.value(row)))}::text[]`;
    const values = rows.map((row) => column.value(row));
    if (column.type === 'uuid') return sql`, ${values}::uuid[]`;
    return column.type === 'int' ? sql`, ${values}::int[]` : sql`, ${values}::text[]`;
  });
}

/** Returns the columns for recordsIn, after the given leading ones. */
export function recordColumns(first: readonly string[], columns: readonly NamedColumn[]): readonly string[] {
  return [...first, ...columns.map(recordColumn)];
}

function recordColumn({ name, type }: NamedColumn): string {
  if (type === 'uuid') return `${name}::uuid`;
  return type === 'text[]' ? `${name}[]` : name;
}

/**
 * Pushes one value per column onto record, which already holds the leading fields, and returns it. Ids are converted to
 * uuids.
 */
export function appendValues<Row>(record: RecordField[], columns: readonly Column<Row>[], row: Row): RecordField[] {
  for (const column of columns) {
    const value = column.value(row);
    record.push(column.type === 'uuid' && typeof value === 'string' ? uuidOfId(value) : value);
  }
  return record;
}

/**
 * Builds message_tags rows from rows of workspace_id, tag and message_id. Calls intern_tag only for new tags, because
 * it costs more than the lookup; intern_tag also requires this order.
 */
export function tagRows(sql: Sql, source: Fragment): Fragment {
  return sql`
    select coalesce(known.id, intern_tag(workspace_id, tag)), message_id
    from (select * from (${source}) given order by workspace_id, tag ${fence}) tagged
    left join lateral (
      select x.id from tags x where x.workspace_id = tagged.workspace_id and x.name = tag ${fence}
    ) known on true`;
}
