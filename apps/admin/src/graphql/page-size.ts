const DEFAULT_PAGE = 20;

/** How many entries the arguments of a connection ask for. */
export function pageSize(args: Readonly<Record<string, unknown>>): number {
  const { first, last, before } = args;
  if (last != null || before != null) return typeof last === 'number' ? last : DEFAULT_PAGE;
  return typeof first === 'number' ? first : DEFAULT_PAGE;
}
