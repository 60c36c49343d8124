import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { addWindowedRows, focusRow } from './row-focus.ts';

const ROW_PX = 37;
/** The rows rendered above and below the window, so that fast scrolling shows no gap. */
const OVERSCAN = 16;

interface RowWindowProps {
  readonly ids: readonly string[];
  readonly showAt: (index: number, measure: Ref<HTMLTableRowElement>) => ReactNode;
  readonly onKeys: (event: KeyboardEvent<HTMLTableSectionElement>, focusAt: (index: number) => void) => void;
}

/** Renders the rows in sight and the row that was focused last, with empty rows in place of the others. */
export function RowWindow({ ids, showAt, onKeys }: RowWindowProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const pending = useRef<string>(null);
  const [pinned, setPinned] = useState<string | null>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  // A drawer and the dock scroll on their own, and their lists are short enough to be rendered whole.
  const [whole, setWhole] = useState(false);
  const pinned_at = pinned === null ? -1 : ids.indexOf(pinned);
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: ids.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey: useCallback((index: number) => ids[index] ?? index, [ids]),
    rangeExtractor: (range) =>
      whole ? ids.map((_, index) => index) : withPinned(defaultRangeExtractor(range), pinned_at),
  });
  const rowOf = (id: string) => body.current?.querySelector(`[data-row="${CSS.escape(id)}"]`);
  const focusAt = (index: number) => {
    const id = ids[index];
    if (id === undefined) return;
    const row = rowOf(id);
    if (row) return focusRow(row);
    pending.current = id;
    setPinned(id);
  };
  useLayoutEffect(() => {
    if (!body.current) return;
    setScrollMargin(Math.round(body.current.getBoundingClientRect().top + scrollY));
    setWhole(body.current.closest('dialog, .dock') !== null);
    const row = pending.current === null ? null : rowOf(pending.current);
    if (!row) return;
    pending.current = null;
    focusRow(row);
  });
  useEffect(() => {
    if (!body.current) return;
    const focusId = (id: string) => {
      const index = ids.indexOf(id);
      focusAt(index);
      return index !== -1;
    };
    return addWindowedRows({ body: body.current, focusAt, focusId });
  });
  let end = scrollMargin;
  const rows = virtualizer.getVirtualItems().map(({ key, index, start, end: next_end }) => {
    const gap = start - end;
    end = next_end;
    return (
      <Fragment key={key}>
        <Gap height={gap} />
        {showAt(index, virtualizer.measureElement)}
      </Fragment>
    );
  });
  return (
    <tbody
      ref={body}
      onFocus={({ target }) => setPinned(target.closest('tr')?.dataset.row ?? null)}
      onKeyDown={(event) => onKeys(event, focusAt)}
    >
      {rows}
      <Gap height={scrollMargin + virtualizer.getTotalSize() - end} />
    </tbody>
  );
}

function withPinned(indexes: readonly number[], pinned_at: number): number[] {
  if (pinned_at === -1 || indexes.includes(pinned_at)) return [...indexes];
  return [...indexes, pinned_at].toSorted((one, other) => one - other);
}

function Gap({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    <tr aria-hidden>
      <td className="gap" style={{ height }} />
    </tr>
  );
}
