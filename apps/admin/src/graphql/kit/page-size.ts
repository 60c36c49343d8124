const DEFAULT_PAGE = 20;

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** limit and cursor from first and after. */
export function pageInput({ first, after }: PageArgs) {
  return { limit: first ?? DEFAULT_PAGE, ...(after != null && { cursor: after }) };
}

/** The page size that the arguments of a connection ask for. A negative one is refused later, and must not be worth points. */
export function pageSize(args: Readonly<Record<string, unknown>>): number {
  const { first, last, before } = args;
  if (last != null || before != null) return atLeastNone(last);
  return atLeastNone(first);
}

function atLeastNone(size: unknown): number {
  return typeof size === 'number' ? Math.max(0, size) : DEFAULT_PAGE;
}
