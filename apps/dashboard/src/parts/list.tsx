import { type KeyboardEvent, lazy, type ReactNode, type Ref, Suspense } from 'react';
import { shortcutsOn } from '../shell/shortcuts.ts';
import { useAnnouncement } from './announcement.ts';
import type { Keyset } from './keyset.ts';
import { focusRow } from './rows/row-focus.ts';
import { ErrorPanel, Skeleton } from './states.tsx';
import { words } from './strings.ts';

export { focusFirstRow, focusRow, focusRowOf } from './rows/row-focus.ts';

/** Longer lists render only the rows in sight. */
const MAX_WHOLE_ROWS = 200;

const RowWindow = lazy(async () => ({ default: (await import('./rows/row-window.tsx')).RowWindow }));

export interface ColumnSort {
  readonly order: 'ascending' | 'descending' | null;
  readonly onSort: () => void;
}

export interface Column<T> {
  readonly name: string;
  readonly show: (row: T) => ReactNode;
  /** A share of the table's width, or fitted to the content. */
  readonly width?: string | 'fit';
  /** Whether the column is hidden on phones, in all narrow windows, or in all but wide ones. */
  readonly less?: boolean | 'unless-wide' | 'not-phone';
  readonly end?: boolean;
  /** Makes the header a button that sorts by the column. */
  readonly sort?: ColumnSort;
  /** Whether long text wraps instead of being truncated. */
  readonly wraps?: boolean;
}

interface ListProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  /** The accessible name of a row and its checkbox. */
  readonly nameOf: (row: T) => string;
  readonly onOpen?: (row: T) => void;
  /** The ID of the row that the page was opened for. */
  readonly marked?: string | undefined;
  readonly selected?: ReadonlySet<string>;
  readonly onToggle?: (id: string) => void;
  readonly onToggleAll?: () => void;
}

/** Renders a list of rows with keyboard control: j and k move, Enter opens, and x selects. */
export function List<T>(props: ListProps<T>) {
  const { label, columns, rows, idOf, onToggle } = props;
  const is_long = rows.length > MAX_WHOLE_ROWS;
  const picked = props.selected?.size ?? 0;
  const keys = (event: KeyboardEvent<HTMLTableSectionElement>, focusAt: (index: number) => void) => {
    const id = (event.target as Element).closest('tr')?.dataset.row;
    const at = rows.findIndex((row) => idOf(row) === id);
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key.length === 1 && !shortcutsOn.get()) return;
    if (step !== undefined) {
      event.preventDefault();
      focusAt(Math.min(Math.max(0, at + step), rows.length - 1));
    }
    const current = rows[at];
    if (event.key === 'x' && onToggle && current) onToggle(idOf(current));
  };
  const whole = (
    <tbody onKeyDown={(event) => keys(event, (index) => focusRow(event.currentTarget.rows[index]))}>
      {rows.map((row) => (
        <Row key={idOf(row)} {...props} row={row} />
      ))}
    </tbody>
  );
  return (
    <div className="table-wrap">
      {/* The first row is the header. */}
      <table className="table" aria-label={label} aria-rowcount={is_long ? rows.length + 1 : undefined}>
        <thead>
          <tr aria-rowindex={is_long ? 1 : undefined}>
            {onToggle && (
              <th className="fit">
                {props.onToggleAll ? (
                  <input
                    type="checkbox"
                    aria-label={words.selectAll}
                    ref={(box) => {
                      if (box) box.indeterminate = picked > 0 && picked < rows.length;
                    }}
                    checked={rows.length > 0 && picked === rows.length}
                    onChange={props.onToggleAll}
                  />
                ) : (
                  <span className="unseen">{words.choose}</span>
                )}
              </th>
            )}
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={classOf(column)}
                style={column.width && column.width !== 'fit' ? { width: column.width } : undefined}
                aria-sort={column.sort ? (column.sort.order ?? 'none') : undefined}
              >
                {column.sort ? (
                  <button type="button" className="sort" onClick={column.sort.onSort}>
                    {column.name}
                    <span aria-hidden>
                      {column.sort.order === null ? '' : column.sort.order === 'descending' ? ' ↓' : ' ↑'}
                    </span>
                  </button>
                ) : column.name === '' ? (
                  <span className="unseen">{words.actions}</span>
                ) : (
                  column.name
                )}
              </th>
            ))}
          </tr>
        </thead>
        {is_long ? (
          <Suspense fallback={whole}>
            <RowWindow
              ids={rows.map(idOf)}
              showAt={(index, measure) => {
                const row = rows[index];
                return row !== undefined && <Row {...props} row={row} index={index} measure={measure} />;
              }}
              onKeys={keys}
            />
          </Suspense>
        ) : (
          whole
        )}
      </table>
    </div>
  );
}

function Row<T>({
  columns,
  row,
  idOf,
  nameOf,
  onOpen,
  marked,
  selected: selection,
  onToggle,
  index,
  measure,
}: ListProps<T> & {
  readonly row: T;
  /** The position in a list that renders only some of its rows. */
  readonly index?: number;
  readonly measure?: Ref<HTMLTableRowElement>;
}) {
  const id = idOf(row);
  const picked = selection?.has(id) ?? false;
  return (
    <tr
      ref={measure}
      data-row={id}
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
      aria-current={id === marked ? 'true' : undefined}
      className={`${onOpen ? 'opens' : ''} ${picked || id === marked ? 'selected' : ''}`}
      onClick={onOpen && ((event) => !isControl(event.target) && onOpen(row))}
    >
      {onToggle && (
        <td className="fit">
          <input
            type="checkbox"
            aria-label={words.select(nameOf(row))}
            checked={picked}
            onChange={() => onToggle(id)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.name} className={`${classOf(column)} ${column.wraps ? 'wide' : ''}`}>
          {column.show(row)}
        </td>
      ))}
    </tr>
  );
}

function classOf<T>({ width, less, end }: Column<T>): string {
  const hidden = less === 'not-phone' ? less : `${less ? 'less' : ''} ${less === 'unless-wide' ? less : ''}`;
  return `${width === 'fit' ? 'fit' : ''} ${hidden} ${end ? 'end' : ''}`;
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, select, summary') !== null;
}

/** Shows the first of several values, such as recipients. The title contains all of them. */
export function FirstOf({
  all,
  more: extraOf,
}: {
  readonly all: readonly string[];
  readonly more: (count: number) => string;
}) {
  return (
    <span title={all.join(', ')}>
      {all[0]} {all.length > 1 && <span className="faint">{extraOf(all.length - 1)}</span>}
    </span>
  );
}

/** Shows a keyset list in all its states: loading, error, empty, rows, and a pill for new rows. */
export function KeysetList<T>({
  list,
  empty,
  freshWord,
  ...props
}: Omit<ListProps<T>, 'rows'> & {
  readonly list: Keyset<T>;
  readonly empty: ReactNode;
  /** For example, "3 new". */
  readonly freshWord: (count: number) => string;
}) {
  const { rows, error } = list;
  const announced = useAnnouncement(list.fresh > 0 ? freshWord(list.fresh) : '');
  if (rows === undefined) {
    return error ? <ErrorPanel error={error} onRetry={list.refetch} /> : <Skeleton lines={8} />;
  }
  return (
    <>
      {error != null && <ErrorPanel error={error} onRetry={list.refetch} />}
      <div className="pill-place">
        <span className="unseen" role="status">
          {announced}
        </span>
        {list.fresh > 0 && (
          <button type="button" className="pill" onClick={list.showFresh}>
            {freshWord(list.fresh)}
          </button>
        )}
      </div>
      {rows.length === 0 && !list.more ? empty : <List {...props} rows={rows} />}
      {list.more && (
        <div className="list-foot">
          <button type="button" className="button" aria-busy={list.loading} onClick={list.loadMore}>
            {words.older}
          </button>
        </div>
      )}
    </>
  );
}
