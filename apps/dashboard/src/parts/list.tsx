import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { shortcutsOn } from '../shell/shortcuts.ts';
import { useAnnouncement } from './announcement.ts';
import type { Keyset } from './keyset.ts';
import { ErrorPanel, Skeleton } from './states.tsx';
import { words } from './strings.ts';

export interface Column<T> {
  readonly name: string;
  readonly show: (row: T) => ReactNode;
  /** A share of the table's width, or fitted to the content. */
  readonly width?: string | 'fit';
  /** Whether the column is hidden in narrow windows. */
  readonly less?: boolean;
  readonly end?: boolean;
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
  readonly chosen?: ReadonlySet<string>;
  readonly onToggle?: (id: string) => void;
}

/** Renders a list of rows with keyboard control: j and k move, Enter opens, and x selects. */
export function List<T>({ label, columns, rows, idOf, nameOf, onOpen, chosen: selection, onToggle }: ListProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const keys = (event: KeyboardEvent<HTMLTableSectionElement>) => {
    const row = (event.target as Element).closest('tr');
    const trs = [...(body.current?.rows ?? [])];
    const at = row ? trs.indexOf(row) : -1;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key.length === 1 && !shortcutsOn.get()) return;
    if (step !== undefined) {
      event.preventDefault();
      focusRow(trs[Math.min(Math.max(0, at + step), trs.length - 1)]);
    }
    const current = rows[at];
    if (event.key === 'x' && onToggle && current) onToggle(idOf(current));
  };
  return (
    <div className="table-wrap">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {onToggle && (
              <th className="fit">
                <span className="unseen">Choose</span>
              </th>
            )}
            {columns.map(({ name, width, less, end }) => (
              <th
                key={name}
                scope="col"
                className={`${width === 'fit' ? 'fit' : ''} ${less ? 'less' : ''} ${end ? 'end' : ''}`}
                style={width && width !== 'fit' ? { width } : undefined}
              >
                {name === '' ? <span className="unseen">Actions</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={keys}>
          {rows.map((row) => {
            const id = idOf(row);
            const picked = selection?.has(id) ?? false;
            return (
              <tr
                key={id}
                data-row={id}
                className={`${onOpen ? 'opens' : ''} ${picked ? 'chosen' : ''}`}
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
                {columns.map(({ name, show, width, less, end, wraps }) => (
                  <td
                    key={name}
                    className={`${width === 'fit' ? 'fit' : ''} ${less ? 'less' : ''} ${end ? 'end' : ''} ${wraps ? 'wide' : ''}`}
                  >
                    {show(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
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

/** Focuses the first link or control in a row. */
export function focusRow(row: Element | null | undefined): void {
  (row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>('button, input'))?.focus();
}

/** Focuses the row of a closing drawer, wherever the drawer was opened from. */
export function focusRowOf(id: string | undefined): void {
  requestAnimationFrame(() => focusRow(document.querySelector(`[data-row="${id}"]`)));
}

/** Focuses the first row of the page's first list so that j and k work from anywhere. */
export function focusFirstRow(): void {
  focusRow(document.querySelector('main tbody tr'));
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
      <div className="unseen" role="status">
        {announced}
      </div>
      {list.fresh > 0 && (
        <button type="button" className="pill" onClick={list.showFresh}>
          {freshWord(list.fresh)}
        </button>
      )}
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
