/** A list that renders only the rows in sight, and can focus the others. */
export interface WindowedRows {
  readonly body: HTMLTableSectionElement;
  focusAt(index: number): void;
  /** Returns whether the list contains the row. */
  focusId(id: string): boolean;
}

const windowed_lists = new Set<WindowedRows>();

/** Adds a list whose rows are not all rendered. Call the returned function to remove it. */
export function addWindowedRows(rows: WindowedRows): () => void {
  windowed_lists.add(rows);
  return () => void windowed_lists.delete(rows);
}

/** Focuses the first link or control in a row. */
export function focusRow(row: Element | null | undefined): void {
  (row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>('button, input'))?.focus();
}

/** Focuses the row of a closing drawer, wherever the drawer was opened from. */
export function focusRowOf(id: string | undefined): void {
  requestAnimationFrame(() => {
    if (id === undefined) return;
    const row = document.querySelector(`[data-row="${CSS.escape(id)}"]`);
    if (row) return focusRow(row);
    [...windowed_lists].some((rows) => rows.focusId(id));
  });
}

/** Focuses the first row of the page's first list so that j and k work from anywhere. */
export function focusFirstRow(): void {
  const body = document.querySelector<HTMLTableSectionElement>('main tbody:has(tr)');
  const rows = [...windowed_lists].find((one) => one.body === body);
  if (rows) rows.focusAt(0);
  else focusRow(body?.rows[0]);
}
