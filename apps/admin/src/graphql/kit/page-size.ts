const DEFAULT_PAGE = 20;

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** limit and cursor from first and after. */
export function pageInput({ first, after }: PageArgs) {
  return { limit: first ?? DEFAULT_PAGE, ...(after != null && { cursor: after }) };
}

/** The page size that the arguments of a connection ask for. */
export function pageSize(args: Readonly<Record<string, unknown>>): number {
  const { first, last, before } = args;
  if (last != null || before != null) return typeof last === 'number' ? last : DEFAULT_PAGE;
  return typeof first === 'number' ? first : DEFAULT_PAGE;
}
