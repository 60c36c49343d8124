const DEFAULT_PAGE = 20;

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Converts `first` and `after` to `limit` and `cursor`. */
export function pageInput({ first, after }: PageArgs) {
  return { limit: first ?? DEFAULT_PAGE, ...(after != null && { cursor: after }) };
}

/**
 * Returns the page size requested by a connection's arguments. A negative size is rejected later and must not earn
 * points.
 */
export function pageSize(args: Readonly<Record<string, unknown>>): number {
  const { first, last, before } = args;
  if (last != null || before != null) return nonNegativeSize(last);
  return nonNegativeSize(first);
}

function nonNegativeSize(size: unknown): number {
  return typeof size === 'number' ? Math.max(0, size) : DEFAULT_PAGE;
}
